import Cryptography
import Foundation
import JSONText
import TestSupport

@testable import AuthService

/// A token that must be refused, and why. Each is a good one with one thing wrong.
struct BadToken: Sendable {
    let label: String
    let token: String
    let refusal: IdentityTokenRefusal

    /// - Parameter nonce: as it was issued for the good token.
    static func all(_ forge: IdentityForge, nonce: String) -> [BadToken] {
        Corpus(forge, nonce).all
    }
}

private struct Corpus {
    let forge: IdentityForge
    let nonce: String
    /// A member that is not there.
    private let absent = JSONValue?.none
    private let stranger = IdentityForge()

    init(_ forge: IdentityForge, _ nonce: String) { (self.forge, self.nonce) = (forge, nonce) }

    var all: [BadToken] { forms + headers + signatures + claims + nonces }

    private var good: [String: JSONValue] { forge.claims("google", subject: "108", nonce: nonce) }
    private var goodToken: String { forge.sign(forge.header, .object(good)) }
    private var goodBytes: [UInt8] { CanonicalJSON.bytes(of: .object(good)) }
    private var headerBytes: [UInt8] { CanonicalJSON.bytes(of: forge.header) }

    // MARK: The form

    private var forms: [BadToken] {
        let parts = goodToken.split(separator: ".").map(String.init)
        let texts: [(String, String)] = [
            ("no dot", parts.joined()), ("two parts", "\(parts[0]).\(parts[1])"), ("four parts", goodToken + ".e30"),
            ("a dot behind it", goodToken + "."), ("a dot before it", "." + goodToken),
            ("five parts, as a JWE has", goodToken + "..e30"), ("no header", ".\(parts[1]).\(parts[2])"),
            ("no claims", "\(parts[0])..\(parts[2])"), ("padding", "\(parts[0]).\(parts[1])==.\(parts[2])"),
            ("padding of the signature", goodToken + "=="), ("white space before it", " " + goodToken),
            ("a line break behind it", goodToken + "\n"), ("another alphabet", "\(parts[0]).\(parts[1]).+/\(parts[2])"),
            ("bits left over", "\(parts[0]).\(parts[1])B.\(parts[2])"), ("Bearer before it", "Bearer " + goodToken),
            ("JSON in place of a token", "{\"payload\":\"\(parts[1])\"}"), ("a letter", "x"), ("dots only", ".."),
            ("letters that are no base64", "ä.ö.ü"),
        ]
        let claims: [(String, [UInt8])] = [
            ("a member twice", duplicated("aud", "\"evil\"")), ("the subject twice", duplicated("sub", "\"109\"")),
            ("a member twice, once escaped", duplicated("\\u0073ub", "\"109\"")),
            ("an array of claims", [UInt8(ascii: "[")] + goodBytes + [UInt8(ascii: "]")]),
            ("claims that are a text", Array("\"claims\"".utf8)), ("claims with a comma too much", withTrailingComma),
            ("claims with a byte order mark", [0xef, 0xbb, 0xbf] + goodBytes),
            ("claims that are no UTF-8", goodBytes.dropLast() + Array(",\"x\":\"".utf8) + [0xff, 0x22, 0x7d]),
            ("two objects of claims", goodBytes + goodBytes),
            ("claims that end too early", Array(goodBytes.dropLast())),
            ("claims nested a hundred deep", nested), ("no byte of claims", []),
        ]
        let huge = forge.sign(
            forge.header, .object(good.merging(["x": .string(String(repeating: "x", count: 8000))]) { $1 }))
        return texts.map { bad("form: \($0.0)", $0.1, .malformed) }
            + claims.map { bad("form: \($0.0)", forge.sign(headerBytes, $0.1), .malformed) }
            + [
                bad("form: huge", huge, .malformed),
                bad(
                    "form: alg twice",
                    forge.sign(Array("{\"alg\":\"ES256\",\"alg\":\"none\",\"kid\":\"forge-1\"}".utf8), goodBytes),
                    .malformed),
            ]
    }

    private func duplicated(_ name: String, _ value: String) -> [UInt8] {
        goodBytes.dropLast() + Array(",\"\(name)\":\(value)}".utf8)
    }
    private var withTrailingComma: [UInt8] { goodBytes.dropLast() + Array(",}".utf8) }
    private var nested: [UInt8] {
        goodBytes.dropLast() + Array(",\"x\":".utf8) + Array(String(repeating: "[", count: 100).utf8)
            + Array(String(repeating: "]", count: 100).utf8) + [UInt8(ascii: "}")]
    }

    // MARK: The header

    private var headers: [BadToken] {
        let changed: [BadToken] = [
            head("alg none", ["alg": "none"]),
            head("alg None", ["alg": "None"]),
            head("alg NONE", ["alg": "NONE"]),
            head("no alg", ["alg": absent]),
            head("an empty alg", ["alg": ""]),
            head("alg in an array", ["alg": ["ES256"]]),
            head("alg in lower case", ["alg": "es256"]),
            head("alg HS256", ["alg": "HS256"]),
            head("alg ES384", ["alg": "ES384"]),
            head("alg EdDSA", ["alg": "EdDSA"]),
            head("alg PS256", ["alg": "PS256"]),
            head("alg ES256K", ["alg": "ES256K"]),
            head("alg RS512", ["alg": "RS512"]),
            head("the alg of another kind of key", ["alg": "RS256"]),
            head("no kid", ["kid": absent]),
            head("a number for a kid", ["kid": 1]),
            head("jwk", ["jwk": forge.jwk]),
            head("jku", ["jku": "https://evil.example/keys"]),
            head("x5u", ["x5u": "https://evil.example/cert"]),
            head("x5c", ["x5c": ["MIIB"]]),
            head("x5t", ["x5t": "AAAA"]),
            head("crit", ["crit": ["exp"]]),
            head("b64", ["b64": false, "crit": ["b64"]]),
            head("zip", ["zip": "DEF"]),
            head("enc", ["enc": "A256GCM"]),
            head("cty", ["cty": "JWT"]),
            head("typ at+jwt", ["typ": "at+jwt"]),
            head("typ that is no text", ["typ": 1]),
        ]
        let unsigned = "\(Base64URL.encode(Array("{\"alg\":\"none\"}".utf8))).\(Base64URL.encode(goodBytes))."
        return changed + [
            bad("header: alg none and no signature", unsigned, .header),
            bad(
                "header: HS256 with the public key", hmac(with: forge.key.publicKey.x + forge.key.publicKey.y), .header),
            bad("header: HS256 with the key set", hmac(with: CanonicalJSON.bytes(of: forge.keySet)), .header),
            bad("header: HS256 without a key", hmac(with: []), .header),
            bad("header: a kid of nobody", forge.sign(header(["kid": "forge-2"]), .object(good)), .unknownKey),
            bad(
                "header: a kid that is a path", forge.sign(header(["kid": "../../dev/null"]), .object(good)),
                .unknownKey),
            bad(
                "header: a kid that is a query", forge.sign(header(["kid": "' OR 1=1 --"]), .object(good)), .unknownKey),
        ]
    }

    private func head(_ label: String, _ change: [String: JSONValue?]) -> BadToken {
        bad("header: \(label)", forge.sign(header(change), .object(good)), .header)
    }

    private func header(_ change: [String: JSONValue?]) -> JSONValue {
        var members = forge.header.objectValue ?? [:]
        for (name, value) in change { members[name] = value }
        return .object(members)
    }

    private func hmac(with key: [UInt8]) -> String {
        let header = CanonicalJSON.bytes(of: header(["alg": "HS256"]))
        let signed = "\(Base64URL.encode(header)).\(Base64URL.encode(goodBytes))"
        return "\(signed).\(Base64URL.encode(HMACSHA256.code(for: Array(signed.utf8), key: key)))"
    }

    // MARK: The signature

    private var signatures: [BadToken] {
        let parts = goodToken.split(separator: ".").map(String.init)
        let signature = Base64URL.decode(parts[2]) ?? []
        func with(_ bytes: [UInt8]) -> String { "\(parts[0]).\(parts[1]).\(Base64URL.encode(bytes))" }
        var flipped = signature
        flipped[40] ^= 1
        let raised = Base64URL.encode(
            CanonicalJSON.bytes(of: .object(good.merging(["sub": "109"]) { $1 })))
        // Right r and s, in the order of ASN.1's encoding and not of JOSE's.
        let asn1 = [0x30, 0x44, 0x02, 0x20] + signature.prefix(32) + [0x02, 0x20] + signature.suffix(32)
        return [
            bad("signature: none", "\(parts[0]).\(parts[1]).", .signature),
            bad("signature: another bit", with(flipped), .signature),
            bad("signature: zeros", with([UInt8](repeating: 0, count: 64)), .signature),
            bad("signature: ones", with([UInt8](repeating: 0xff, count: 64)), .signature),
            bad("signature: one byte less", with(signature.dropLast()), .signature),
            bad("signature: one byte more", with(signature + [0]), .signature),
            bad(
                "signature: r and s the other way round", with(signature.suffix(32) + signature.prefix(32)), .signature),
            bad("signature: in ASN.1", with(asn1), .signature),
            bad("signature: of other claims", "\(parts[0]).\(raised).\(parts[2])", .signature),
            bad("signature: of somebody else's key", stranger.sign(forge.header, .object(good)), .signature),
        ]
    }

    // MARK: The claims

    private var claims: [BadToken] {
        let now = Int64(Date().timeIntervalSince1970)
        let others: [JSONValue] = [.string(IdentityForge.audience), .string(IdentityForge.otherAudience)]
        return [
            claim("no issuer", .issuer, ["iss": absent]),
            claim("a foreign issuer", .issuer, ["iss": "https://evil.example"]),
            claim("the other provider's issuer", .issuer, ["iss": "https://appleid.apple.com"]),
            claim("an issuer with a slash behind it", .issuer, ["iss": "https://accounts.google.com/"]),
            claim("an issuer without TLS", .issuer, ["iss": "http://accounts.google.com"]),
            claim("an issuer in upper case", .issuer, ["iss": "https://ACCOUNTS.GOOGLE.COM"]),
            claim("an issuer with something before it", .issuer, ["iss": "https://evil.example/accounts.google.com"]),
            claim("issuers", .issuer, ["iss": ["https://accounts.google.com"]]),
            claim("no audience", .audience, ["aud": absent]),
            claim("a foreign audience", .audience, ["aud": "org.evil.app"]),
            claim("an empty audience", .audience, ["aud": ""]),
            claim("two audiences", .audience, ["aud": .array(others)]),
            claim("a foreign audience beside ours", .audience, ["aud": [others[0], "org.evil.app"]]),
            claim("an array of one audience", .audience, ["aud": [others[0]]]),
            claim("no audience in an array", .audience, ["aud": []]),
            claim("ours as the start of an audience", .audience, ["aud": "org.example.app.evil"]),
            claim("an audience of null", .audience, ["aud": JSONValue.null]),
            claim("a foreign authorized party", .authorizedParty, ["azp": "org.evil.app"]),
            claim("authorized parties", .authorizedParty, ["azp": [others[0]]]),
            claim("no iat", .future, ["iat": absent]),
            claim("iat 65 s ahead", .future, ["iat": .integer(now + 65)]),
            claim("iat as a text", .future, ["iat": .string("\(now)")]),
            claim("nbf ahead", .future, ["nbf": .integer(now + 65)]),
            claim("nbf as a text", .future, ["nbf": "0"]),
            claim("no exp", .expired, ["exp": absent]),
            claim("expired by 65 s", .expired, ["exp": .integer(now - 65)]),
            claim("expired in 1970", .expired, ["exp": 0]),
            claim("exp as a text", .expired, ["exp": .string("\(now + 600)")]),
            claim("exp with a fraction", .expired, ["exp": .number(Double(now) + 600.5)]),
            claim("exp of null", .expired, ["exp": JSONValue.null]),
            claim("no subject", .subject, ["sub": absent]),
            claim("an empty subject", .subject, ["sub": ""]),
            claim("a number for a subject", .subject, ["sub": 108]),
            claim("a subject of 256 characters", .subject, ["sub": .string(String(repeating: "1", count: 256))]),
            claim("a subject with a line break", .subject, ["sub": "108\n109"]),
            claim("a subject of null", .subject, ["sub": JSONValue.null]),
        ]
    }

    private func claim(_ label: String, _ refusal: IdentityTokenRefusal, _ change: [String: JSONValue?]) -> BadToken {
        bad("claims: \(label)", forge.sign(forge.header, .object(changed(change))), refusal)
    }

    private func changed(_ change: [String: JSONValue?]) -> [String: JSONValue] {
        var claims = good
        for (name, value) in change { claims[name] = value }
        return claims
    }

    // MARK: The nonce

    private var nonces: [BadToken] {
        let digest = Hex.encode(SHA256.digest(Array(nonce.utf8)))
        let changes: [(String, JSONValue?)] = [
            ("none", absent), ("an empty one", .string("")), ("as it was issued", .string(nonce)),
            ("of another sign-in", .string(Hex.encode(SHA256.digest(Array("nc_other".utf8))))),
            ("in upper case", .string(digest.uppercased())), ("cut short", .string(String(digest.dropLast()))),
            ("its digest's digest", .string(Hex.encode(SHA256.digest(Array(digest.utf8))))),
            ("in an array", .array([.string(digest)])), ("null", .null),
        ]
        return changes.map { label, value in
            bad("nonce: \(label)", forge.sign(forge.header, .object(changed(["nonce": value]))), .nonce)
        }
    }

    private func bad(_ label: String, _ token: String, _ refusal: IdentityTokenRefusal) -> BadToken {
        BadToken(label: label, token: token, refusal: refusal)
    }
}
