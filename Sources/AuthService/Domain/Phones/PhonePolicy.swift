import BusProtocol
import ProcessRuntime

/// Which numbers the operator serves. Check it before looking up a number, so that a refusal reveals nothing about
/// accounts.
struct PhonePolicy: Sendable, Equatable {
    /// `nil` means every country.
    private let countries: Set<String>?

    /// - Parameter countries: regions of ISO 3166-1 alpha-2, or only `*` for every one. An empty list means every
    ///   country in development and none elsewhere, since each SMS costs money and fraud often uses distant countries.
    /// - Throws: ``ConfigurationError`` if a country does not exist.
    init(countries: [String], profile: DeploymentProfile) throws(ConfigurationError) {
        // This parses the plan at the start, when no request waits for it.
        let known = NumberingPlan.current.regions
        if countries == ["*"] || countries.isEmpty && profile == .development {
            self.countries = nil
            return
        }
        for country in countries where !known.contains(country) {
            throw ConfigurationError(
                "AUTH_SMS_COUNTRIES: \"\(country)\" is not a country with phone numbers (write SE,DE or only *)")
        }
        self.countries = Set(countries)
    }

    /// The countries whose numbers get codes, sorted.
    var regions: [String] { (countries ?? NumberingPlan.current.regions).sorted() }

    /// - Parameter text: in any spelling that ``PhoneNumber`` accepts.
    func number(_ text: String) throws(PhoneError) -> PhoneNumber {
        guard let number = PhoneNumber(text) else { throw .notValid }
        guard countries?.contains(number.region) != false else { throw .countryNotServed }
        return number
    }
}

/// Why a number is refused.
enum PhoneError: BusErrorConvertible {
    case notValid, countryNotServed

    var busError: BusError {
        switch self {
        case .notValid: BusError(.invalidPhone, "Please enter a valid phone number")
        case .countryNotServed: BusError(.invalidPhone, "We cannot send codes to numbers of this country")
        }
    }
}
