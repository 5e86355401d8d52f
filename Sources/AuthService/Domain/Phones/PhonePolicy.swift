import BusProtocol
import ProcessRuntime

/// Which numbers the operator serves. It is asked before anything is looked up, so that a refusal tells nothing of accounts.
struct PhonePolicy: Sendable, Equatable {
    /// `nil`: every country.
    private let countries: Set<String>?

    /// - Parameter countries: regions as ISO 3166-1 alpha-2 writes them, or `*` alone for every one. Where there is none,
    ///   it is every one in development and none elsewhere: each SMS costs, and fraud asks for them far away.
    /// - Throws: where there is no such country.
    init(countries: [String], profile: DeploymentProfile) throws(ConfigurationError) {
        // Read now, at the start, when nobody waits for it.
        let known = NumberingPlan.current.regions
        if countries == ["*"] || countries.isEmpty && profile == .development {
            self.countries = nil
            return
        }
        for country in countries where !known.contains(country) {
            throw ConfigurationError(
                "AUTH_SMS_COUNTRIES: \"\(country)\" is no country with numbers (as SE,DE, or * alone)")
        }
        self.countries = Set(countries)
    }

    /// - Parameter text: in any spelling that ``PhoneNumber`` takes.
    func number(_ text: String) throws(PhoneError) -> PhoneNumber {
        guard let number = PhoneNumber(text) else { throw .notValid }
        guard countries?.contains(number.region) != false else { throw .countryNotServed }
        return number
    }
}

/// Why a number is not taken.
enum PhoneError: BusErrorConvertible {
    case notValid, countryNotServed

    var busError: BusError {
        switch self {
        case .notValid: BusError(.invalidPhone, "Please enter a valid phone number")
        case .countryNotServed: BusError(.invalidPhone, "We cannot send codes to numbers of this country")
        }
    }
}
