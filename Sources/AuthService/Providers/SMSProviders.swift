import Foundation
import ServiceRuntime

/// The providers that the configuration names.
enum SMSProviders {
    static let variables: [ConfigurationVariable] = [
        .init("SMS_WEBHOOK_URL", .text, nil, "Where the webhook provider posts SMS"),
        .init("SMS_WEBHOOK_KEY", .text, nil, "Signs what the webhook provider posts", isSecret: true),
        .init("SMS_TWILIO_URL", .text, "https://api.twilio.com", "Twilio, or who speaks as it does"),
        .init("SMS_TWILIO_ACCOUNT", .text, nil, "The account's sid"),
        .init("SMS_TWILIO_TOKEN", .text, nil, "The account's token", isSecret: true),
        .init("SMS_TWILIO_FROM", .text, nil, "The sender: a number, a name, or a messaging service (MG…)"),
    ]
    /// Of a webhook's key: less can be guessed from a signature and its text.
    private static let shortestKey = 32

    /// In the order in which they are tried.
    static func named(
        _ configuration: Configuration, spool: SpoolProvider
    ) throws(ConfigurationError) -> [any SMSProvider] {
        var providers: [any SMSProvider] = []
        for name in configuration.list("SMS_PROVIDER") {
            switch name {
            case "webhook": providers.append(try webhook(configuration))
            case "twilio": providers.append(try twilio(configuration))
            default:
                guard configuration.profile != .production else {
                    throw ConfigurationError("SMS_PROVIDER: the production profile takes no spool provider")
                }
                providers.append(spool)
            }
        }
        return providers
    }

    private static func webhook(_ configuration: Configuration) throws(ConfigurationError) -> WebhookProvider {
        let key = try configuration.text("SMS_WEBHOOK_KEY")
        guard key.utf8.count >= shortestKey else {
            throw ConfigurationError("SMS_WEBHOOK_KEY must have \(shortestKey) characters or more")
        }
        return WebhookProvider(url: try url("SMS_WEBHOOK_URL", configuration), key: Array(key.utf8))
    }

    private static func twilio(_ configuration: Configuration) throws(ConfigurationError) -> TwilioProvider {
        let account = try configuration.text("SMS_TWILIO_ACCOUNT")
        guard account.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || 65...90 ~= $0 & 0xDF }) else {
            throw ConfigurationError("SMS_TWILIO_ACCOUNT must be letters and digits")
        }
        return TwilioProvider(
            base: try url("SMS_TWILIO_URL", configuration), account: account,
            token: try configuration.text("SMS_TWILIO_TOKEN"), from: try configuration.text("SMS_TWILIO_FROM"))
    }

    /// Codes cross no network in the clear: `http:` is for a provider on a developer's own machine.
    private static func url(_ name: String, _ configuration: Configuration) throws(ConfigurationError) -> URL {
        let schemes = configuration.profile == .development ? ["https", "http"] : ["https"]
        guard let url = URL(string: try configuration.text(name)), let scheme = url.scheme, schemes.contains(scheme),
            url.host?.isEmpty == false, url.user == nil, url.fragment == nil
        else {
            throw ConfigurationError("\(name) must be an \(schemes.joined(separator: ": or ")): URL without a user")
        }
        return url
    }
}
