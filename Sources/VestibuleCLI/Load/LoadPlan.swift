import EventLoop
import Foundation

/// An action of a person in a load.
enum LoadAction: String, CaseIterable, Sendable {
    case onboarding, login, read, autosave
}

/// A scenario: the actions of people in a load.
enum LoadScenario: String, CaseIterable, Sendable {
    case onboarding, login, read, autosave, mixed

    /// The unit of the rate.
    var unit: String {
        switch self {
        case .onboarding: "people"
        case .login: "logins"
        case .read: "requests"
        case .autosave: "autosaves"
        case .mixed: "actions"
        }
    }

    /// Whether people must have signed in before the load begins.
    var needsPeople: Bool { self != .onboarding && self != .login }

    /// The action with a number.
    ///
    /// Of 100 mixed actions in a row, 80 read, 15 save an answer, four log in and one is an onboarding.
    func action(at index: Int) -> LoadAction {
        switch self {
        case .onboarding: return .onboarding
        case .login: return .login
        case .read: return .read
        case .autosave: return .autosave
        case .mixed:
            // 37 and 100 have no common divisor, so the actions of a kind are spread.
            let place = index % 100 * 37 % 100
            return place < 80 ? .read : place < 95 ? .autosave : place < 99 ? .login : .onboarding
        }
    }
}

/// The arguments of `vestibule load`.
struct LoadPlan: Sendable, Equatable {
    /// Allowed numbers of actions a second.
    static let rates = 0.1...50_000.0
    /// Allowed lengths. People sign in before the load, and their access tokens live for 15 minutes.
    static let seconds = 1...600
    /// Allowed numbers of connections.
    static let connections = 1...4_096

    let scenario: LoadScenario
    /// Actions a second.
    let rate: Double
    /// For how long the load starts actions, in seconds.
    let seconds: Int
    /// The most connections at a time.
    let connections: Int

    /// - Throws: ``CommandError`` for a value that is missing, unreadable or out of bounds.
    init(scenario: String?, rate: String?, time: String?, connections: String?) throws(CommandError) {
        let names = LoadScenario.allCases.map(\.rawValue).joined(separator: ", ")
        guard let scenario = LoadScenario(rawValue: scenario ?? "") else {
            throw .usage("--scenario must be one of \(names)")
        }
        guard let rate = Double(rate ?? ""), Self.rates.contains(rate) else {
            throw .usage("--rate must be 0.1 to 50000 a second")
        }
        guard let seconds = Self.seconds(time ?? ""), Self.seconds.contains(seconds) else {
            throw .usage("--for must be 1s to 10m")
        }
        guard let connections = Int(connections ?? "2048"), Self.connections.contains(connections) else {
            throw .usage("--connections must be 1 to 4096")
        }
        (self.scenario, self.rate, self.seconds, self.connections) = (scenario, rate, seconds, connections)
    }

    /// The seconds of a text such as `30`, `30s` or `2m`.
    private static func seconds(_ text: String) -> Int? {
        text.hasSuffix("m")
            ? Int(text.dropLast()).map { min($0, 1_000) * 60 }
            : Int(text.hasSuffix("s") ? text.dropLast() : text[...])
    }

    /// The number of actions.
    var count: Int { max(1, Int(rate * Double(seconds))) }

    /// When an action starts, in nanoseconds from the start of the load.
    func start(of index: Int) -> UInt64 { UInt64(Double(index) * 1e9 / rate) }
}
