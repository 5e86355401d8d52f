import Foundation
import ProviderHTTP
import ServiceRuntime

/// Reads the variables of auth's own providers.
extension ProviderSettings {
    /// - Parameter name: the variable that an error names.
    static func spool(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> SpoolProvider {
        guard configuration.profile != .production else {
            throw ConfigurationError("\(name): the production profile does not allow the provider spool")
        }
        return SpoolProvider(folder: try configuration.text("SPOOL_DIR"))
    }
}
