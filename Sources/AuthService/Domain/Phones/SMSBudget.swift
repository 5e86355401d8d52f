import ProcessRuntime

/// The most codes within an hour of the clock, in all and to each country. It bounds the cost of a flood of codes.
///
/// The last fifth is for known devices only. So a flood does not lock out people who have signed in before.
struct SMSBudget: Sendable, Equatable {
    /// The limit for all codes; `nil` means none.
    private var perHour: Int64?
    /// The limit for each country without a limit of its own; `nil` means none.
    private var perCountry: Int64?
    /// The limits of single countries, ISO 3166-1 alpha-2.
    private var countries: [String: Int64?] = [:]

    /// The scope of all codes together. The scope of a country is its code.
    static let all = ""
    /// The scope of codes by email. They cost nothing and have no country, so they count for no other scope.
    static let emails = "@"

    /// Makes a budget without limits.
    init() {}

    /// - Parameters:
    ///   - perHour: a number, or `off`.
    ///   - perCountry: a number or `off` for every country, `DE:5000` or `DE:off` for one.
    /// - Throws: ``ConfigurationError`` for a value of another form, an unknown country, or if nothing is said about
    ///   all other countries.
    init(perHour: String, perCountry: [String]) throws(ConfigurationError) {
        self.perHour = try Self.bound(perHour, of: "AUTH_SMS_PER_HOUR")
        for item in perCountry {
            let parts = item.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let bound = try Self.bound(parts[parts.count - 1], of: "AUTH_SMS_PER_HOUR_COUNTRY")
            if parts.count == 1 {
                self.perCountry = bound
            } else if NumberingPlan.current.regions.contains(parts[0]) {
                countries.updateValue(bound, forKey: parts[0])
            } else {
                throw ConfigurationError(
                    "AUTH_SMS_PER_HOUR_COUNTRY: \"\(parts[0])\" is not a country with phone numbers")
            }
        }
        guard perCountry.contains(where: { !$0.contains(":") }) else {
            throw ConfigurationError("AUTH_SMS_PER_HOUR_COUNTRY needs a number for all other countries too, or off")
        }
    }

    /// Reads a limit for an hour: a number, or `off` for none.
    static func bound(_ text: String, of name: String) throws(ConfigurationError) -> Int64? {
        if text == "off" { return nil }
        guard let count = Int64(text), (1...1_000_000_000).contains(count) else {
            throw ConfigurationError("\(name) must be 1 to 1000000000 codes, or off")
        }
        return count
    }

    private func bound(of scope: String) -> Int64? {
        if scope == Self.all { return perHour }
        guard let own = countries[scope] else { return perCountry }
        return own
    }

    /// Whether nothing is left for the caller, in all or for the number's country.
    func isSpent(_ history: SendHistory, for country: String) -> Bool {
        [(Self.all, history.sentInHour), (country, history.sentToCountry)].contains { scope, used in
            Self.isSpent(used, of: bound(of: scope), history)
        }
    }

    /// Whether nothing is left for the caller of a limit for an hour. `nil` is none.
    static func isSpent(_ used: Int64, of bound: Int64?, _ history: SendHistory) -> Bool {
        guard let bound else { return false }
        return used >= (history.isKnownDevice ? bound : ofStrangers(bound))
    }

    private static func ofStrangers(_ bound: Int64) -> Int64 { bound - bound / 5 }

    /// The scopes in which nothing is left for strangers.
    ///
    /// - Parameter used: the codes sent in this hour, by scope.
    func full(of used: [String: Int64]) -> Set<String> {
        Set(used.filter { scope, count in Self.isFull(count, of: bound(of: scope)) }.keys)
    }

    /// Whether nothing is left for strangers. `nil` is no limit.
    static func isFull(_ used: Int64, of bound: Int64?) -> Bool { bound.map { used >= ofStrangers($0) } ?? false }

    /// The used share of the scope that has used most of its limit. 1 means all of it, and 0 that there is no limit.
    ///
    /// - Parameter used: as for ``full(of:)``.
    func share(of used: [String: Int64]) -> Double {
        used.map { scope, count in Self.share(count, of: bound(of: scope)) }.max() ?? 0
    }

    /// The used share of one limit; 0 if there is none.
    static func share(_ used: Int64, of bound: Int64?) -> Double { bound.map { Double(used) / Double($0) } ?? 0 }
}
