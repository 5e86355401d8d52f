import BusProtocol

/// Calculates ages by the calendar. A birthday on 29 February is on 1 March in other years.
enum Age {
    /// The whole years of age; `nil` for a date in the future.
    static func years(born: CivilDate, on today: CivilDate) -> Int? {
        guard born <= today else { return nil }
        let years = today.year - born.year
        guard let birthday = birthday(of: born, turning: years) else { return years }
        return birthday <= today ? years : years - 1
    }

    /// The band of an age in whole years, for people who must not know the age itself.
    static func band(of years: Int) -> String {
        switch years {
        case ..<18: "under_18"
        case ..<25: "18-24"
        case ..<35: "25-34"
        case ..<45: "35-44"
        case ..<55: "45-54"
        case ..<65: "55-64"
        default: "65+"
        }
    }

    /// The day on which the person turns `minimum`.
    static func eligibleOn(born: CivilDate, minimum: Int) -> CivilDate { birthday(of: born, turning: minimum) ?? born }

    private static func birthday(of born: CivilDate, turning age: Int) -> CivilDate? {
        CivilDate(year: born.year + age, month: born.month, day: born.day)
            ?? CivilDate(year: born.year + age, month: 3, day: 1)
    }
}
