/// One environment variable that a program reads: its type, its default and a sentence.
public struct ConfigurationVariable: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case text
        case integer(ClosedRange<Int64>)
        case boolean
        /// `300s`, `15m`, `72h`, within seconds from and to; `off` where `mayBeOff`.
        case duration(ClosedRange<Int64>, mayBeOff: Bool)
        case choice([String])
        /// Comma-separated.
        case list

        var label: String {
            switch self {
            case .text: "text"
            case .integer(let range): "number \(range.lowerBound)…\(range.upperBound)"
            case .boolean: "true or false"
            case .duration(_, let mayBeOff): mayBeOff ? "duration or off" : "duration"
            case .choice(let values): values.joined(separator: " or ")
            case .list: "list"
            }
        }
    }

    public var name: String
    public var kind: Kind
    /// `nil`: there is no value unless one is set.
    public var fallback: String?
    public var note: String
    /// May also be given as `NAME_FILE`, the path of a file with the value; never printed.
    public var isSecret: Bool

    public init(_ name: String, _ kind: Kind, _ fallback: String?, _ note: String, isSecret: Bool = false) {
        self.name = name
        self.kind = kind
        self.fallback = fallback
        self.note = note
        self.isSecret = isSecret
    }
}

/// Where a system runs, and how much it forgives.
public enum DeploymentProfile: String, Sendable { case development, staging, production }
