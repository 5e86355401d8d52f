import BusProtocol
import BusRuntime
import EventLoop
import HTTPServer
import JSONText

/// Sessions of web apps on the API's own origin. The access token goes to the page. The tokens that renew it go into a
/// cookie.
@Loop final class WebSessions {
    private let bus: Bus
    private let gatekeeper: Gatekeeper

    init(bus: Bus, gatekeeper: Gatekeeper) { (self.bus, self.gatekeeper) = (bus, gatekeeper) }

    /// - Parameter body: the body of the request, which fits ``WebSessionAct/requestSchema``.
    func answer(
        _ act: WebSessionAct, _ headers: HTTPHeaders, body: [UInt8], _ options: CallOptions
    ) async throws(Problem) -> HTTPResponse {
        guard WebSessionCookie.isOfOwnOrigin(headers) else {
            throw Problem(.forbidden, "Only a page of this address may do this.")
        }
        if let given = Self.given(in: body) {
            // A text that a cookie cannot hold is no token of auth's, so there is nothing to renew.
            guard given.setting != nil else { throw Self.signedOut }
            return try await renew(given, options)
        }
        let cookie = WebSessionCookie(headers)
        do throws(Problem) {
            return switch act {
            case .renew: try await renew(cookie, options)
            case .end: try await end(cookie, options)
            }
        } catch {
            var problem = error
            // The session of the cookie is over.
            if problem.status == 401 { problem.headers.set("set-cookie", WebSessionCookie.removal) }
            throw problem
        }
    }

    /// The tokens that a page sends right after a sign-in.
    private static func given(in body: [UInt8]) -> WebSessionCookie? {
        guard let root = try? JSONDocument(body).root, let token = root["refreshToken"]?.string else { return nil }
        return WebSessionCookie(refreshToken: token, deviceSecret: root["deviceSecret"]?.string)
    }

    private func renew(_ cookie: WebSessionCookie?, _ options: CallOptions) async throws(Problem) -> HTTPResponse {
        guard let cookie else { throw Self.signedOut }
        let session = try await renewed(cookie, options)
        guard session.actor.role == .user else {
            throw Problem(.forbidden, "Staff cannot keep a session in a browser.")
        }
        var response = HTTPResponse(
            status: 200, headers: ["content-type": "application/json", "cache-control": "no-store"])
        response.headers.set("set-cookie", session.setting)
        response.body = session.publicMembers
        return response
    }

    /// Ends the session. If the session is over already, this only removes the cookie.
    private func end(_ cookie: WebSessionCookie?, _ options: CallOptions) async throws(Problem) -> HTTPResponse {
        if let cookie {
            do throws(Problem) {
                var asPerson = options
                asPerson.actor = try await renewed(cookie, options).actor
                asPerson.idempotencyKey = Self.freshKey()
                do { _ = try await bus.call(Logout(), asPerson) } catch { throw Problem(error) }
            } catch  where error.status == 401 {}
        }
        return HTTPResponse(
            status: 204, headers: ["cache-control": "no-store", "set-cookie": WebSessionCookie.removal])
    }

    private struct Renewed {
        let actor: Actor
        let setting: String
        /// The reply without the members that the cookie holds.
        let publicMembers: [UInt8]
    }

    private func renewed(_ cookie: WebSessionCookie, _ options: CallOptions) async throws(Problem) -> Renewed {
        let request = RefreshToken(refreshToken: cookie.refreshToken, deviceSecret: cookie.deviceSecret)
        var options = options
        // A page that lost the answer repeats the call with the same cookie. The device's secret makes that safe.
        options.idempotencyKey = Self.freshKey()
        let reply: [UInt8]
        do throws(BusError) {
            reply = try await bus.callRaw(
                type: RefreshToken.type, version: RefreshToken.version, rules: RefreshToken.rules,
                body: request.jsonBytes, options
            ).body
        } catch {
            throw Problem(error)
        }
        guard let root = try? JSONDocument(reply).root, let accessToken = root["accessToken"]?.string,
            let token = root["refreshToken"]?.string,
            let setting = WebSessionCookie(refreshToken: token, deviceSecret: cookie.deviceSecret).setting
        else { throw Problem(.internalError, Problem.internalDetail) }
        let members = root.members.filter { !WebSessionAct.keptMembers.contains($0.name) }.map { name, value in
            CanonicalJSON.bytes(of: .string(name)) + [UInt8(ascii: ":")] + value.rawText
        }
        let actor: Actor
        do throws(Problem) {
            actor = try await gatekeeper.actor(of: accessToken)
        } catch {
            // Auth made this token just now, so the gateway's keys or clock are behind. The page repeats the call.
            throw Problem(.serviceUnavailable, "Signing in is not available right now. Please try again.")
        }
        return Renewed(
            actor: actor, setting: setting,
            publicMembers: [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")])
    }

    private static var signedOut: Problem { Problem(.refreshTokenInvalid, "Please sign in again.") }

    private static func freshKey() -> String { "\(IdempotencyKey.gatewayPrefix)\(Identifier.ordered())" }
}
