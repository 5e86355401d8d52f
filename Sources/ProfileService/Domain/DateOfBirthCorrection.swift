import BusProtocol

/// Decides whether a person may correct the own date of birth.
struct DateOfBirthCorrection: Sendable {
    /// A mistyped date is noticed at once. Later, only staff change it.
    static let window: Duration = .seconds(86_400)

    /// The age rules of every app.
    let ages: [Plan.AgeRule]
    let today: CivilDate
    let now: Timestamp

    /// Once within the window, and never from under age to of age.
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
