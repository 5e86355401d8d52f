import Foundation
import Testing

@testable import VestibuleCLI

/// Everything as it was built, started by `vestibule up`.
struct RunningSystem {
    let installation: Installation
    let address: String

    /// - Parameters:
    ///   - scale: as `--scale` takes it.
    ///   - variables: of the services, beside those of this process.
    init(scale: String, variables: [String: String] = [:]) throws {
        installation = try Installation()
        let free = try RawServer.listenAtFreePort()
        close(free.descriptor)
        address = "127.0.0.1:\(free.port)"
        let started = try installation.run(
            ["up", "--state", installation.state.path, "--http", address, "--scale", scale, "--detach"],
            variables: variables)
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
}
