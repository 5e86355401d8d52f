import BusProtocol

/// Decides whether people may correct their own date of birth.
struct DateOfBirthCorrection: Sendable {
    /// A mistyped date is noticed at once. Later, only staff change it.
    static let window: Duration = .seconds(86_400)

    /// The age rules of every app.
    let ages: [Plan.AgeRule]
    let today: CivilDate
    let now: Timestamp

    /// A person may correct it once within the window. A person under age cannot become of age by a correction.
    func isAllowed(of record: ProfileRecord, to date: CivilDate) -> Bool {
        guard let known = record.dateOfBirth, let setAt = record.dateOfBirthSetAt, !record.isDateOfBirthCorrected,
            now < setAt + Self.window
        else { return false }
        return ages.allSatisfy { age in
            let isOfAge = Age.eligibleOn(born: known, minimum: age.minimum) <= today
            return isOfAge || Age.eligibleOn(born: date, minimum: age.minimum) > today
        }
    }
}
