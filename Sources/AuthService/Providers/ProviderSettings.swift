import Foundation
import ServiceRuntime

/// Reads the variables of providers.
enum ProviderSettings {
    /// The least length of a webhook's key. A shorter key could be guessed from a signature and its text.
    private static let shortestKey = 32

    /// The URL of a provider.
    static func url(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> URL {
        try url(try configuration.text(name), of: name, in: configuration.profile)
    }

    /// Requires `https:`, so that codes and tokens are encrypted on the network. The development profile allows
    /// `http:`.
    ///
    /// - Parameter name: the variable that an error names.
    static func url(_ text: String, of name: String, in profile: DeploymentProfile) throws(ConfigurationError) -> URL {
        let schemes = profile == .development ? ["https", "http"] : ["https"]
        guard let url = URL(string: text), let scheme = url.scheme, schemes.contains(scheme),
            url.host?.isEmpty == false, url.user == nil, url.fragment == nil
        else {
            throw ConfigurationError("\(name) must be an \(schemes.joined(separator: ": or ")): URL without a user")
        }
        return url
    }

    /// The webhook of the variables with a prefix, such as `SMS_WEBHOOK`.
    static func webhook(_ prefix: String, _ configuration: Configuration) throws(ConfigurationError) -> WebhookProvider
    {
        let key = try configuration.text("\(prefix)_KEY")
        guard key.utf8.count >= shortestKey else {
            throw ConfigurationError("\(prefix)_KEY must have \(shortestKey) characters or more")
        }
        return WebhookProvider(url: try url("\(prefix)_URL", configuration), key: Array(key.utf8))
    }

    /// - Parameter name: the variable that an error names.
    static func spool(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> SpoolProvider {
        guard configuration.profile != .production else {
            throw ConfigurationError("\(name): the production profile does not allow the provider spool")
        }
        return SpoolProvider(folder: try configuration.text("SPOOL_DIR"))
    }
}
