import Foundation
import JSONText
import Testing

@testable import VestibuleCLI

/// Everything as it was built, started by `vestibule up`.
struct RunningSystem {
    let installation: Installation
    let address: String
    /// What `vestibule up` printed.
    let output: String

    /// - Parameters:
    ///   - scale: as `--scale` takes it.
    ///   - options: further ones of `up`.
    ///   - variables: of the services, beside those of this process.
    init(scale: String, options: [String] = [], variables: [String: String] = [:]) throws {
        installation = try Installation()
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        address = "127.0.0.1:\(free.port)"
        let started = try installation.run(
            ["up", "--state", installation.state.path, "--http", address, "--scale", scale, "--detach"]
                + options,
            variables: variables)
        output = started.output
        if started.code != 0 { stop() }
        try #require(started.code == 0, "\(started.output)")
    }

    func stop() {
        _ = try? installation.run("down", "--state", installation.state.path)
        installation.remove()
    }

    /// Runs SQL as the superuser.
    @discardableResult
    func sql(_ text: String) throws -> String { try PostgresServer(installation.state).query("vestibule", text) }

    /// Signs somebody in by a code.
    ///
    /// - Parameter headers: of both requests.
    func signIn(_ phone: String, _ client: HTTPClient, headers: [String: String] = [:]) throws {
        let sent = try client.send("POST", "/auth/otp/send", body: ["phone": .string(phone)], headers: headers)
        let spool = Spool(file: "\(installation.state.spool)/sms.jsonl")
        let sms = try spool.wait(for: "the SMS") { $0["to"]?.stringValue == phone }
        let verified = try client.send(
            "POST", "/auth/otp/verify",
            body: [
                "challengeId": sent.body["challengeId"] ?? .null,
                "code": .string(String(sms["body"]?.stringValue?.prefix(6) ?? "")),
                "device": ["name": "Pixel 9", "platform": "android"],
            ], headers: headers)
        try #require(verified.status == 200)
    }
}
