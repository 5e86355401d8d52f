import Foundation
import JSONText

/// `vestibule load`: sends calls to a development system at a rate, and prints how long they took.
enum LoadCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(
            words, options: ["--rate", "--for", "--scenario", "--connections", "--record", "--state"])
        let plan = try LoadPlan(
            scenario: arguments["--scenario"], rate: arguments["--rate"], time: arguments["--for"],
            connections: arguments["--connections"])
        let state = try StateFolder(arguments["--state"], create: false)
        let target = try target(of: state)
        try allowFiles(plan.connections + 256)
        let report = try BusCommand.waiting {
            try await Load(plan, target: target, spool: state.spool).run(showsProgress: isatty(1) == 1)
        }
        say(report.text)
        if let file = arguments["--record"] {
            try StateFolder.write(
                String(decoding: CanonicalJSON.bytes(of: report.json), as: UTF8.self), to: file, mode: 0o644)
        }
        let flaws = report.flaws.map(\.sentence)
        guard flaws.isEmpty else { throw CommandError("this run is not valid: \(flaws.joined(separator: "; "))") }
    }

    /// The gateway of a development system.
    private static func target(of state: StateFolder) throws -> sockaddr_in {
        guard let running = RunFile(state) else { throw CommandError("nothing runs from \(state.path)", code: 3) }
        guard running.value["profile"] == "development" else {
            throw CommandError.usage("a load is for development systems only, which \(state.path) is not")
        }
        let client = try HTTPClient(running.address)
        // Connections come from loopback addresses.
        guard let target = HTTPClient.addresses(client.host, client.port).first,
            UInt32(bigEndian: target.sin_addr.s_addr) >> 24 == 127
        else {
            throw CommandError.usage("the gateway is at \(running.address): a load needs one at a loopback address")
        }
        return target
    }

    /// Lets this process open `count` files.
    private static func allowFiles(_ count: Int) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(rlim_t(count), limit.rlim_max))
        guard limit.rlim_cur >= count, setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw CommandError.unavailable("this process may open \(limit.rlim_max) files: lower --connections")
        }
    }
}
