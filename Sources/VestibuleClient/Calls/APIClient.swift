import Foundation

/// Carries out each call as it is. It keeps no session: its user sets the access token.
public struct APIClient: VestibuleAPI {
    /// The address of the server, such as `https://api.example.org`.
    public var address: URL
    /// The access token of a session; `nil` while nobody is signed in.
    public var accessToken: String?
    /// The languages to answer in, as `Accept-Language` has them; `nil` for the server's default.
    public var language: String?
    private let transport: any Transport

    /// A client of the server at an address.
    public init(
        _ address: URL, accessToken: String? = nil, language: String? = nil,
        transport: any Transport = URLSessionTransport()
    ) {
        self.address = address
        self.accessToken = accessToken
        self.language = language
        self.transport = transport
    }

    public func send<Reply>(_ call: Call<Reply>) async throws(VestibuleError) -> Answer<Reply> {
        let answer: TransportAnswer
        do {
            answer = try await transport.answer(to: request(call))
        } catch {
            throw .noAnswer(error)
        }
        return try Self.read(answer)
    }

    /// The request that carries a call.
    func request<Reply>(_ call: Call<Reply>) throws -> TransportRequest {
        let base = address.absoluteString
        let query = call.query.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }.sorted()
        let text =
            (base.hasSuffix("/") ? String(base.dropLast()) : base) + call.path.text
            + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        var headers = call.headers.compactMapValues { $0 }
        headers["Accept-Language"] = language
        if let token = token(for: call.access) { headers["Authorization"] = "Bearer \(token)" }
        guard let body = call.body else {
            return TransportRequest(method: call.method.rawValue, url: url, headers: headers)
        }
        headers["Content-Type"] = "application/json"
        return TransportRequest(
            method: call.method.rawValue, url: url, headers: headers, body: try WireJSON.encoder().encode(body))
    }

    private func token(for access: CallAccess) -> String? {
        switch access {
        case .open: nil
        case .session, .sessionIfAny: accessToken
        case .token(let token): token
        }
    }

    private static func read<Reply: Decodable>(_ answer: TransportAnswer) throws(VestibuleError) -> Answer<Reply> {
        if answer.status == 304 { throw .notModified }
        let decoder = WireJSON.decoder()
        do {
            if (200...299).contains(answer.status) {
                let body = answer.body.isEmpty ? Data("{}".utf8) : answer.body
                return Answer(try decoder.decode(Reply.self, from: body), eTag: answer.headers["etag"])
            }
            throw VestibuleError.problem(try decoder.decode(Problem.self, from: answer.body))
        } catch let error as VestibuleError {
            throw error
        } catch {
            throw .unreadable(status: answer.status, error)
        }
    }
}
