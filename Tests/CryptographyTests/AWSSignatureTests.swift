import Testing

@testable import Cryptography

/// The signatures are those of the suite that AWS publishes: the folders of `tests/aws-signing-test-suite/v4` in
/// github.com/awslabs/aws-c-auth, file `header-signature.txt`. Left out are those of paths with dots and slashes to resolve,
/// which nobody here sends, and of headers on several lines.
@Suite("signatures of AWS") struct AWSSignatureTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        var method = "GET"
        var path = "/"
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = ""
        /// The names that are signed where they are not only `host` and `x-amz-date`.
        var signed = "host;x-amz-date"
        var token: String?
        let signature: String
        var testDescription: String { name }
    }

    static let letters = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    static let form = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"
    static let vectors: [Vector] = [
        .init(name: "get-vanilla", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        .init(
            name: "get-vanilla-query-order-key-case", query: [("Param2", "value2"), ("Param1", "value1")],
            signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        .init(
            name: "get-utf8", path: "/ሴ", signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        .init(
            name: "get-space-unnormalized", path: "/example space/",
            signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
        .init(
            name: "get-vanilla-utf8-query", query: [("ሴ", "bar")],
            signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
        .init(
            name: "get-vanilla-query-unreserved", query: [(letters, letters)],
            signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
        .init(
            name: "get-header-value-trim", headers: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
            signed: "host;my-header1;my-header2;x-amz-date",
            signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        .init(
            name: "post-vanilla", method: "POST",
            signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        .init(
            name: "post-header-key-sort", method: "POST", headers: [("My-Header1", "value1")],
            signed: "host;my-header1;x-amz-date",
            signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"),
        .init(
            name: "post-x-www-form-urlencoded", method: "POST",
            headers: [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", "13"),
                ("x-amz-content-sha256", form),
            ], body: "Param1=value1", signed: "content-length;content-type;host;x-amz-content-sha256;x-amz-date",
            signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"),
        .init(
            name: "get-vanilla-with-session-token", signed: "host;x-amz-date;x-amz-security-token",
            token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
            signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
    ]

    @Test(arguments: vectors) func signaturesMatchThoseThatAWSPublishes(vector: Vector) {
        let signer = AWSSigner(
            .init(
                accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                sessionToken: vector.token), region: "us-east-1", service: "service")
        let request = AWSSigner.Request(
            method: vector.method, path: vector.path, query: vector.query,
            headers: [("Host", "example.amazonaws.com")] + vector.headers,
            payloadHash: Hex.encode(SHA256.digest(Array(vector.body.utf8))))
        // 2015-08-30T12:36:00Z
        let added = signer.headers(for: request, at: 1_440_938_160)
        let expected =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            + "SignedHeaders=\(vector.signed), Signature=\(vector.signature)"
        #expect(added.first { $0.name == "authorization" }?.value == expected)
        #expect(added.first { $0.name == "x-amz-date" }?.value == "20150830T123600Z")
        #expect(added.first { $0.name == "x-amz-security-token" }?.value == vector.token)
    }

    @Test func valuesOfOneNameAreJoinedAndARepeatedParameterIsSorted() {
        #expect(AWSSigner.Request.encode([("b", "2"), ("a", "z"), ("a", "b c"), ("e", "")]) == "a=b%20c&a=z&b=2&e=")
        #expect(AWSSigner.Request.encode("a/b+ü~", keeping: "/") == "a/b%2B%C3%BC~")
    }
}
