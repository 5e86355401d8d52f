import BusProtocol
import Foundation

/// Where a person's days begin and end.
public struct PersonTimeZone: Sendable, Equatable {
    /// Of the IANA time zone database: `Europe/Stockholm`, `UTC`.
    public let name: String
    private let zone: TimeZone

    /// - Returns: `nil` for a name that there is not; abbreviations and bare offsets, which change twice a year, are none.
    public init?(_ name: String) {
        guard name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name) else { return nil }
        (self.name, self.zone) = (name, zone)
    }

    /// The calendar date there.
    public func date(at now: Timestamp) -> CivilDate {
        let seconds = zone.secondsFromGMT(
            for: Date(timeIntervalSince1970: Double(now.microsecondsSinceEpoch) / 1_000_000))
        return (now + .seconds(seconds)).date
    }
}
