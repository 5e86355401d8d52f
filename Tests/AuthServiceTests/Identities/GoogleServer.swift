import Cryptography
import EventLoop
import Foundation
import HTTPServer
import JSONText
import TestSupport
import Testing

/// A local server that speaks as Google's token exchange and Firebase Cloud Messaging do.
enum GoogleServer {
    /// Made by openssl, once.
    private static let pem = Result {
        try OpenSSL.run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-quiet"])
    }

    /// The file that Google hands out for a service account.
    static func account(at url: String) throws -> String {
        let members: JSONValue = [
            "type": "service_account", "project_id": "vestibule-test", "private_key_id": "key-1",
            "private_key": .string(try pem.get()),
            "client_email": "push@vestibule-test.iam.gserviceaccount.com", "client_id": "1",
            "token_uri": .string("\(url)/token"),
        ]
        return String(decoding: CanonicalJSON.bytes(of: members), as: UTF8.self)
    }

    /// - Parameter signature: Base64URL.
    static func isValid(signature: String, for text: String) throws -> Bool {
        let folder = try ScratchFolder()
        defer { withExtendedLifetime(folder) {} }
        try OpenSSL.run(["pkey", "-pubout"], Array(try pem.get().utf8)).write(
            toFile: "\(folder.path)/public", atomically: false, encoding: .utf8)
        let bytes = try #require(Base64URL.decode(signature))
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/signature"))
        let verify = ["dgst", "-sha256", "-verify", "\(folder.path)/public", "-signature", "\(folder.path)/signature"]
        return try OpenSSL.run(verify, Array(text.utf8)).contains("Verified OK")
    }

    static let taken = ProviderServer.Manner.answers(
        status: 200, body: #"{"name":"projects/vestibule-test/messages/1"}"#)
    static let unregistered =
        #"{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}"#
    static let invalidToken =
        #"{"error":{"code":400,"message":"The registration token is not a valid FCM registration token","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}"#

    static let takesAll = manner { _ in taken }

    /// Gives access tokens, and answers a push by the token that it is for.
    static func manner(
        expiresIn: Int = 3600, _ push: @escaping @Loop @Sendable (_ token: String) -> ProviderServer.Manner
    ) -> ProviderServer.Manner {
        .chooses { request in
            guard request.head.path != "/token" else {
                let body = #"{"access_token":"ya29.1","expires_in":\#(expiresIn),"token_type":"Bearer"}"#
                return .answers(status: 200, body: body)
            }
            return push(token(in: request) ?? "")
        }
    }

    /// The push token that a request is for.
    static func token(in request: HTTPRequest) -> String? {
        (try? JSONValue.parse(request.body))?["message"]?["token"]?.stringValue
    }
}
