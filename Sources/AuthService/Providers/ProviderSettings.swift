import Foundation
import ServiceRuntime

/// What the variables of all providers have in common.
enum ProviderSettings {
    /// Of a webhook's key: less can be guessed from a signature and its text.
    private static let shortestKey = 32

    /// Where a provider is.
    static func url(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> URL {
        try url(try configuration.text(name), of: name, in: configuration.profile)
    }

    /// Codes and tokens cross no network in the clear: `http:` is for a provider on a developer's own machine.
    ///
    /// - Parameter name: stands in the error.
    static func url(_ text: String, of name: String, in profile: DeploymentProfile) throws(ConfigurationError) -> URL {
        let schemes = profile == .development ? ["https", "http"] : ["https"]
        guard let url = URL(string: text), let scheme = url.scheme, schemes.contains(scheme),
            url.host?.isEmpty == false, url.user == nil, url.fragment == nil
        else {
            throw ConfigurationError("\(name) must be an \(schemes.joined(separator: ": or ")): URL without a user")
        }
        return url
    }

    /// The webhook of variables that begin so: `SMS_WEBHOOK`.
    static func webhook(_ prefix: String, _ configuration: Configuration) throws(ConfigurationError) -> WebhookProvider
    {
        let key = try configuration.text("\(prefix)_KEY")
        guard key.utf8.count >= shortestKey else {
            throw ConfigurationError("\(prefix)_KEY must have \(shortestKey) characters or more")
        }
        return WebhookProvider(url: try url("\(prefix)_URL", configuration), key: Array(key.utf8))
    }

    /// - Parameter name: of the variable that chose it.
    static func spool(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> SpoolProvider {
        guard configuration.profile != .production else {
            throw ConfigurationError("\(name): the production profile takes no spool provider")
        }
        return SpoolProvider(folder: try configuration.text("SPOOL_DIR"))
    }
}
