import Foundation
import ProviderHTTP
import ServiceRuntime

/// Makes the push provider that the configuration names.
enum PushProviders {
    static let variables: [ConfigurationVariable] = [
        .init("PUSH_WEBHOOK_URL", .text, nil, "The URL to which the webhook provider posts pushes"),
        .init("PUSH_WEBHOOK_KEY", .text, nil, "The key that signs the posts of the webhook provider", isSecret: true),
        .init(
            "PUSH_FCM_URL", .text, "https://fcm.googleapis.com",
            "The URL of Firebase Cloud Messaging, or of a server with the same API"),
        .init(
            "PUSH_FCM_SERVICE_ACCOUNT", .text, nil, "The service account's key file from Google, in JSON",
            isSecret: true),
    ]

    static func named(_ configuration: Configuration) throws(ConfigurationError) -> any PushProvider {
        switch try configuration.text("PUSH_PROVIDER") {
        case "webhook": WebhookProvider(webhook: try Webhook("PUSH_WEBHOOK", configuration))
        case "fcm": try fcm(configuration)
        default: try ProviderSettings.spool("PUSH_PROVIDER", configuration)
        }
    }

    private static func fcm(_ configuration: Configuration) throws(ConfigurationError) -> FCMProvider {
        let name = "PUSH_FCM_SERVICE_ACCOUNT"
        guard let account = ServiceAccount(json: try configuration.text(name)) else {
            throw ConfigurationError(
                "\(name) must be JSON with project_id, client_email, private_key_id, private_key (RSA, 2048 bits or more) and token_uri"
            )
        }
        let exchange = try ProviderSettings.url(
            account.tokenURI, of: "token_uri in \(name)", in: configuration.profile)
        return FCMProvider(
            base: try ProviderSettings.url("PUSH_FCM_URL", configuration), project: account.project,
            access: GoogleAccess(account: account, exchange: exchange))
    }
}
