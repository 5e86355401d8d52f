import ProviderHTTP
import ServiceRuntime

/// Makes the email providers that the configuration names.
enum EmailProviders {
    static let variables: [ConfigurationVariable] = [
        .init(
            "EMAIL_PROVIDER", .choices(["off", "spool", "webhook", "smtp"]), nil,
            "Who sends emails; if one of several fails, the next one is tried; empty: spool in development, off elsewhere"
        ),
        .init("EMAIL_WEBHOOK_URL", .text, nil, "The URL to which the webhook provider posts emails"),
        .init("EMAIL_WEBHOOK_KEY", .text, nil, "The key that signs the posts of the webhook provider", isSecret: true),
        .init("EMAIL_SMTP_RELAY", .text, nil, "The relay of the smtp provider in your own network: HOST:PORT"),
        .init("EMAIL_SMTP_FROM", .text, nil, "The sender of emails through the relay: an address"),
        .init("EMAIL_SMTP_USER", .text, nil, "The user at the relay; empty: no authentication"),
        .init("EMAIL_SMTP_PASSWORD", .text, nil, "The password of that user", isSecret: true),
    ]

    /// The providers in the order in which they are tried; none if the operator does not send emails.
    static func named(_ configuration: Configuration) throws(ConfigurationError) -> [any MessageProvider] {
        var names = configuration.list("EMAIL_PROVIDER")
        if names.isEmpty { names = [configuration.profile == .development ? "spool" : "off"] }
        if names == ["off"] { return [] }
        guard !names.contains("off") else { throw ConfigurationError("EMAIL_PROVIDER is off, or names providers") }
        var providers: [any MessageProvider] = []
        for name in names {
            switch name {
            case "webhook": providers.append(WebhookProvider(webhook: try Webhook("EMAIL_WEBHOOK", configuration)))
            case "smtp": providers.append(try smtp(configuration))
            default: providers.append(try ProviderSettings.spool("EMAIL_PROVIDER", configuration))
            }
        }
        return providers
    }

    private static func smtp(_ configuration: Configuration) throws(ConfigurationError) -> SMTPProvider {
        let relay = try configuration.address("EMAIL_SMTP_RELAY")
        guard let sender = EmailAddress(try configuration.text("EMAIL_SMTP_FROM")) else {
            throw ConfigurationError("EMAIL_SMTP_FROM must be an email address")
        }
        return SMTPProvider(
            host: relay.host, port: relay.port, sender: sender, senderName: try configuration.text("APP_NAME"),
            login: try login(configuration))
    }

    private static func login(_ configuration: Configuration) throws(ConfigurationError) -> SMTPDialogue.Login? {
        guard let user = configuration.optionalText("EMAIL_SMTP_USER") else { return nil }
        return SMTPDialogue.Login(user: user, password: try configuration.text("EMAIL_SMTP_PASSWORD"))
    }
}
