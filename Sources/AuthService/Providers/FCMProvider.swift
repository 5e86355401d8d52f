import EventLoop
import Foundation
import FoundationNetworking
import JSONText
import ProviderHTTP

/// Sends pushes by the HTTP v1 API of Firebase Cloud Messaging, or by a server with the same API.
struct FCMProvider: PushProvider {
    let base: URL
    let project: String
    let access: GoogleAccess

    @Loop func send(_ push: OutgoingPush, within limit: Duration) async throws(PushError) {
        let end = MonotonicClock.now() + limit.nanoseconds
        let token = try await access.accessToken(within: limit)
        let now = MonotonicClock.now()
        guard now < end else { throw .notTaken(.failure(.noAnswer)) }
        let left = Duration.nanoseconds(Int64(end - now))
        let answer = await ProviderClient.ask(request(push, token), within: left)
        guard case .success(let taken) = answer else { throw .notTaken(answer) }
        guard 200...299 ~= taken.status else {
            if taken.status == 401 { access.forget(token) }
            throw Self.isAboutToken(taken) ? .deadToken : .notTaken(answer)
        }
    }

    /// Whether the error is about the device's token. A 404 can also mean a missing project, and a 400 a push that is
    /// too long.
    ///
    /// Source: "FCM error codes" and "Manage FCM registration tokens" in Firebase's documentation.
    private static func isAboutToken(_ answer: ProviderAnswer) -> Bool {
        guard let error = try? JSONValue.parse(answer.body)["error"] else { return false }
        let details = error["details"]?.arrayValue ?? []
        switch answer.status {
        case 404: return details.contains { $0["errorCode"] == "UNREGISTERED" }
        case 400:
            let fields = details.flatMap { $0["fieldViolations"]?.arrayValue ?? [] }
            return fields.contains { $0["field"] == "message.token" }
                || error["message"] == "The registration token is not a valid FCM registration token"
        default: return false
        }
    }

    private func request(_ push: OutgoingPush, _ token: String) -> URLRequest {
        // A push is sent again if its response was lost. With the same id, it replaces the first on the person's
        // screen.
        let id = JSONValue.string(push.notificationID.description)
        var data = push.data
        data["userId"] = push.personID.description
        let message: JSONValue = [
            "token": .string(push.token), "notification": ["title": .string(push.title), "body": .string(push.body)],
            "data": .object(data.mapValues { .string($0) }),
            "android": ["priority": "high", "notification": ["tag": id]],
            "apns": ["headers": ["apns-collapse-id": id, "apns-priority": "10"]],
        ]
        var request = URLRequest(url: base.appending(path: "v1/projects/\(project)/messages:send"))
        request.httpMethod = "POST"
        request.httpBody = Data(CanonicalJSON.bytes(of: ["message": message]))
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return request
    }
}
