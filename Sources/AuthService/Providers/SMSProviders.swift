import Foundation
import ProviderHTTP
import ServiceRuntime

/// Makes the SMS providers that the configuration names.
enum SMSProviders {
    static let variables: [ConfigurationVariable] = [
        .init("SMS_WEBHOOK_URL", .text, nil, "The URL to which the webhook provider posts SMS"),
        .init("SMS_WEBHOOK_KEY", .text, nil, "The key that signs the posts of the webhook provider", isSecret: true),
        .init("SMS_TWILIO_URL", .text, "https://api.twilio.com", "The URL of Twilio, or of a server with the same API"),
        .init("SMS_TWILIO_ACCOUNT", .text, nil, "The account's sid"),
        .init("SMS_TWILIO_TOKEN", .text, nil, "The token of the account at Twilio", isSecret: true),
        .init("SMS_TWILIO_FROM", .text, nil, "The sender at Twilio: a number, a name, or a messaging service (MG…)"),
    ]

    /// The providers in the order in which they are tried.
    static func named(_ configuration: Configuration) throws(ConfigurationError) -> [any MessageProvider] {
        var providers: [any MessageProvider] = []
        for name in configuration.list("SMS_PROVIDER") {
            switch name {
            case "webhook": providers.append(WebhookProvider(webhook: try Webhook("SMS_WEBHOOK", configuration)))
            case "twilio": providers.append(try twilio(configuration))
            default: providers.append(try ProviderSettings.spool("SMS_PROVIDER", configuration))
            }
        }
        return providers
    }

    private static func twilio(_ configuration: Configuration) throws(ConfigurationError) -> TwilioProvider {
        let account = try configuration.text("SMS_TWILIO_ACCOUNT")
        guard account.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || 65...90 ~= $0 & 0xDF }) else {
            throw ConfigurationError("SMS_TWILIO_ACCOUNT must have letters and digits only")
        }
        return TwilioProvider(
            base: try ProviderSettings.url("SMS_TWILIO_URL", configuration), account: account,
            token: try configuration.text("SMS_TWILIO_TOKEN"), from: try configuration.text("SMS_TWILIO_FROM"))
    }
}
