import BusProtocol
import Documents

/// A version's policy for people with an open session in another version.
struct UpgradePolicy: Sendable, Equatable {
    /// The classes of change for which people are offered this version. For others they stay with their version.
    private(set) var offered: Set<ChangeClass> = [.editorial, .additive, .rescore, .reask]
    /// How many days open sessions of this version may go on after it is retired; `nil` means for ever.
    private(set) var drainDays: Int64?

    init() {}

    init(_ file: DefinitionFile.Policy?) {
        for (name, decision) in file?.onPublish ?? [:] {
            guard let changeClass = ChangeClass(rawValue: name) else { continue }
            if decision == "offer" { offered.insert(changeClass) } else { offered.remove(changeClass) }
        }
        drainDays = file?.drainDays
    }

    /// - Parameter retiredAt: `nil` if the version is in use.
    func isDrained(retiredAt: Timestamp?, now: Timestamp) -> Bool {
        guard let retiredAt, let drainDays else { return false }
        return now.microsecondsSinceEpoch - retiredAt.microsecondsSinceEpoch > drainDays * 86_400_000_000
    }
}
