import BusProtocol
import ProcessRuntime

/// The settings of a gateway that an operator chooses.
struct GatewayConfiguration: Sendable {
    var host = "127.0.0.1"
    /// 0 means any free port.
    var port = 8080
    var timeout = Duration.seconds(5)
    /// On routes that hide their time, a response leaves a multiple of this time after its request arrived.
    var answerStep = Duration.milliseconds(50)
    var trustedProxies: [Network] = []
    var corsOrigins: [String] = []
    /// Networks from which staff and administrators may act; `nil` means any.
    var staffNetworks: [Network]?
    /// Requests a minute of one person; `nil` means no limit.
    var rateLimit: Int?
    /// Connections of one address at a time. Trusted proxies may have any number.
    var connectionsPerAddress = 256
    var operators = OperatorAccess()
    /// `nil` if the gateway does not serve the web app.
    var webApp: WebApp.Settings?
    /// The codes that the web app shows, in the development profile only.
    var developmentCodes: DevelopmentCodes?
    /// The `iss` and `aud` that an access token must have.
    var tokenIssuer = "vestibule"
    var tokenAudience = "vestibule"
}

extension GatewayConfiguration {
    static let variables: [ConfigurationVariable] =
        [
            .init("GATEWAY_HTTP", .text, "127.0.0.1:8080", "Where to listen: a numeric address and a port"),
            .init("GATEWAY_TIMEOUT", .duration(1...300, mayBeOff: false), "5s", "How long a request may take"),
            .init(
                "GATEWAY_ANSWER_STEP", .integer(10...1000), "50",
                "Responses that could reveal an account are sent at multiples of so many milliseconds; must exceed their work"
            ),
            .init(
                "GATEWAY_TRUSTED_PROXIES", .list, nil,
                "Addresses and networks (10.0.0.0/8) of proxies whose X-Forwarded-For is trusted"),
            .init("GATEWAY_CORS_ORIGINS", .list, nil, "Origins whose pages may call the API (https://app.example)"),
            .init(
                "GATEWAY_OPS_KEY", .text, nil,
                "The operator's key, 32 visible ASCII characters or more, for /metrics and /ops", isSecret: true),
            .init(
                "GATEWAY_RATE_LIMIT", .text, "600",
                "Requests a minute of one person; an address may make five times as many; off in the development profile only"
            ),
            .init(
                "GATEWAY_CONNECTIONS_PER_ADDRESS", .integer(1...4096), "256",
                "Connections of one address at a time; trusted proxies may have any number"),
            .init(
                "GATEWAY_STAFF_NETWORKS", .list, nil,
                "Networks from which staff and administrators may act; the development profile allows any"),
            .init("GATEWAY_WEB_APP", .choice(["on", "off"]), "off", "Whether to serve the web app at /app/"),
            .init(
                "GATEWAY_WEB_APP_SOURCES", .list, nil,
                "Origins of pictures and uploads that the web app may use, where they are not the API's own"),
            .init(
                "GATEWAY_WEB_APP_CLIENTS", .list, nil,
                "Clients of the web app at Google and Apple (google=CLIENT), which are among their audiences in auth"),
            .init("SPOOL_DIR", .text, nil, "Folder of the spool provider, for the web app in the development profile"),
            .init("GATEWAY_TOKEN_ISSUER", .text, "vestibule", "The issuer that access tokens must name"),
            .init("GATEWAY_TOKEN_AUDIENCE", .text, "vestibule", "The audience that access tokens must name"),
        ] + CommonVariables.everyProcess(peers: ServiceName.services)

    /// - Throws: ``ConfigurationError`` that names the variable.
    init(_ values: Configuration) throws(ConfigurationError) {
        (host, port) = try values.address("GATEWAY_HTTP")
        timeout = try values.duration("GATEWAY_TIMEOUT")
        answerStep = .milliseconds(try values.integer("GATEWAY_ANSWER_STEP"))
        trustedProxies = try Self.networks("GATEWAY_TRUSTED_PROXIES", values)
        let staff = try Self.networks("GATEWAY_STAFF_NETWORKS", values)
        staffNetworks = values.profile == .development ? nil : staff
        corsOrigins = values.list("GATEWAY_CORS_ORIGINS")
        rateLimit = try Self.rateLimit(values)
        connectionsPerAddress = Int(try values.integer("GATEWAY_CONNECTIONS_PER_ADDRESS"))
        if try values.text("GATEWAY_WEB_APP") == "on" {
            webApp = WebApp.Settings(
                sources: values.list("GATEWAY_WEB_APP_SOURCES"), clients: values.list("GATEWAY_WEB_APP_CLIENTS"))
            guard webApp != nil else {
                throw ConfigurationError("GATEWAY_WEB_APP_CLIENTS: each must be google=CLIENT or apple=CLIENT")
            }
        }
        if values.profile == .development {
            developmentCodes = values.optionalText("SPOOL_DIR").map { DevelopmentCodes(folder: $0) }
            webApp?.showsCodes = developmentCodes != nil
        }
        tokenIssuer = try values.text("GATEWAY_TOKEN_ISSUER")
        tokenAudience = try values.text("GATEWAY_TOKEN_AUDIENCE")
        operators = OperatorAccess(
            key: values.optionalText("GATEWAY_OPS_KEY"), isOpenToThisMachine: values.profile == .development)
        if let key = operators.key, key.utf8.count < 32 || !key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) {
            throw ConfigurationError("GATEWAY_OPS_KEY must have 32 visible ASCII characters or more")
        }
    }

    private static func networks(_ name: String, _ values: Configuration) throws(ConfigurationError) -> [Network] {
        var networks: [Network] = []
        for text in values.list(name) {
            guard let network = Network(text) else {
                throw ConfigurationError("\(name): \"\(text)\" is neither an address nor a network")
            }
            networks.append(network)
        }
        return networks
    }

    private static func rateLimit(_ values: Configuration) throws(ConfigurationError) -> Int? {
        let text = try values.text("GATEWAY_RATE_LIMIT")
        if text == "off" {
            guard values.profile == .development else {
                throw ConfigurationError("GATEWAY_RATE_LIMIT may be off in the development profile only")
            }
            return nil
        }
        guard let limit = Int(text), (1...1_000_000).contains(limit) else {
            throw ConfigurationError("GATEWAY_RATE_LIMIT must be 1 to 1000000 requests a minute, or off")
        }
        return limit
    }
}
