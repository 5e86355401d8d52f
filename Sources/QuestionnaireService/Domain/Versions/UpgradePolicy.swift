import BusProtocol

/// What a version asks for those who are under way in another one.
struct UpgradePolicy: Sendable, Equatable {
    /// Classes of change that people are asked about; of the others they hear nothing and stay with their version.
    private(set) var offered: Set<ChangeClass> = [.editorial, .additive, .rescore, .reask]
    /// How long who is under way in this version may finish after it was retired; `nil`: for ever.
    private(set) var drainDays: Int64?

    init() {}

    init(_ file: DefinitionFile.Policy?) {
        for (name, decision) in file?.onPublish ?? [:] {
            guard let changeClass = ChangeClass(rawValue: name) else { continue }
            if decision == "offer" { offered.insert(changeClass) } else { offered.remove(changeClass) }
        }
        drainDays = file?.drainDays
    }

    /// - Parameter retiredAt: `nil` of a version that is in use.
    func isDrained(retiredAt: Timestamp?, now: Timestamp) -> Bool {
        guard let retiredAt, let drainDays else { return false }
        return now.microsecondsSinceEpoch - retiredAt.microsecondsSinceEpoch > drainDays * 86_400_000_000
    }
}
