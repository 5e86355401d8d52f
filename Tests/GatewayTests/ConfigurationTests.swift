import ProcessRuntime
import Testing

@testable import Gateway

@Suite("Gateway configuration") struct ConfigurationTests {
    private func read(_ environment: [String: String]) throws -> GatewayConfiguration {
        try GatewayConfiguration(
            try Configuration(variables: GatewayConfiguration.variables, prefix: "GATEWAY_", environment: environment))
    }

    @Test func startsWithItsDefaults() throws {
        let configuration = try read([:])
        #expect(configuration.host == "127.0.0.1" && configuration.port == 8080)
        #expect(configuration.timeout == .seconds(5) && configuration.rateLimit == 600)
        #expect(configuration.trustedProxies.isEmpty && configuration.corsOrigins.isEmpty)
    }

    @Test(
        "addresses",
        arguments: [
            ("0.0.0.0:80", "0.0.0.0", 80), ("[::1]:8080", "::1", 8080), ("localhost:0", "localhost", 0),
        ])
    func addresses(text: String, host: String, port: Int) throws {
        let configuration = try read(["GATEWAY_HTTP": text])
        #expect(configuration.host == host && configuration.port == port)
    }

    @Test(
        "a wrong configuration stops the start",
        arguments: [
            ["GATEWAY_HTTP": "8080"], ["GATEWAY_HTTP": ":80"], ["GATEWAY_HTTP": "127.0.0.1:x"],
            ["GATEWAY_HTTP": "127.0.0.1:65536"], ["GATEWAY_TIMEOUT": "5"], ["GATEWAY_TRUSTED_PROXIES": "10.0.0.0/33"],
            ["GATEWAY_STAFF_NETWORKS": "office"], ["GATEWAY_RATE_LIMIT": "0"], ["GATEWAY_RATE_LIMIT": "many"],
            ["GATEWAY_OPS_KEY": "short"],
            ["GATEWAY_WEB_APP": "on", "GATEWAY_WEB_APP_CLIENTS": "google"],
            ["GATEWAY_WEB_APP": "on", "GATEWAY_WEB_APP_CLIENTS": "other=1"], ["GATEWAY_RATE_LIMT": "1"],
            ["GATEWAY_RATE_LIMIT": "off"], ["GATEWAY_RATE_LIMIT": "off", "VESTIBULE_PROFILE": "staging"],
        ])
    func mistakes(environment: [String: String]) {
        #expect(throws: ConfigurationError.self) { try read(environment) }
    }

    @Test func aLimitMayBeOffInDevelopment() throws {
        let configuration = try read(["GATEWAY_RATE_LIMIT": "off", "VESTIBULE_PROFILE": "development"])
        #expect(configuration.rateLimit == nil)
    }
}
