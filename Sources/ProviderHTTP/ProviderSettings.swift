import Foundation
import ProcessRuntime

/// Reads the variables of providers.
package enum ProviderSettings {
    /// The URL of a provider.
    package static func url(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> URL {
        try url(try configuration.text(name), of: name, in: configuration.profile)
    }

    /// Requires `https:`, so that codes, tokens and addresses are encrypted on the network. The development profile
    /// allows `http:`.
    ///
    /// - Parameter name: the variable that an error names.
    package static func url(
        _ text: String, of name: String, in profile: DeploymentProfile
    ) throws(ConfigurationError) -> URL {
        let schemes = profile == .development ? ["https", "http"] : ["https"]
        guard let url = URL(string: text), let scheme = url.scheme, schemes.contains(scheme),
            url.host?.isEmpty == false, url.user == nil, url.fragment == nil
        else {
            throw ConfigurationError("\(name) must be an \(schemes.joined(separator: ": or ")): URL without a user")
        }
        return url
    }
}
