/// How long the owner of an account can dispute its recovery.
///
/// Recovery and auth each read it from their own environment. Auth does not move an account earlier, even if recovery
/// asks for it.
package enum RecoveryHold {
    /// The variable `RECOVERY_HOLD`.
    package static let variable = ConfigurationVariable(
        "RECOVERY_HOLD", .duration(1...1_209_600, mayBeOff: false), "72h",
        "How long the owner may say no to a recovery: the same for auth and recovery, under 24h in development only")

    /// Reads the hold.
    ///
    /// - Returns: seconds, from 1 to 1,209,600.
    /// - Throws: ``ConfigurationError`` if it is less than 24 hours outside the development profile.
    package static func seconds(_ configuration: Configuration) throws(ConfigurationError) -> Int64 {
        let seconds = try configuration.duration("RECOVERY_HOLD").components.seconds
        guard seconds >= 86_400 || configuration.profile == .development else {
            throw ConfigurationError("RECOVERY_HOLD: less than 24h is for the development profile only")
        }
        return seconds
    }
}
