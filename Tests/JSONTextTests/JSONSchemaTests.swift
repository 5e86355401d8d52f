import JSONText
import Testing

@Suite("schemas") struct JSONSchemaTests {
    private let schema = JSONSchema.object([
        .required("id", .uuid), .required("name", .string(2...5)), .optional("born", .date), .optional("at", .dateTime),
        .optional("age", .integer(0...150)), .optional("kind", .values("a", "b")),
        .optional("list", .array(of: .object([.required("x", .number(0...1))]), count: 1...2)),
        .optional("free", .map(of: .anyOf([.boolean, .string(1...3)]), count: 0...2)),
        .optional("maybe", .nullable(.boolean)), .optional("code", .string(.init(length: 6...6, format: .otp))),
    ])

    private func problems(_ text: String) throws -> [String] {
        let id = #""id":"0190a5b0-7c1e-7000-8000-000000000001""#
        let full = Array(text.replacing("ID", with: id).utf8)
        return schema.problems(in: try JSONDocument(full).root).map { "\($0.field) \($0.code)" }
    }

    @Test func allProblemsAreReportedAtOnce() throws {
        let text = #"{"name":"x","age":151,"kind":"c","list":[{"x":2},{"y":1},{}],"more":1,"born":"2023-02-30"}"#
        #expect(
            try problems(text) == [
                "name too_short", "age too_large", "kind not_allowed", "list too_many", "more unknown_member",
                "born malformed", "id required",
            ])
        #expect(
            try problems(#"{ID,"name":"abc","list":[{"x":1.5},{"y":1}]}"#) == [
                "list.0.x too_large", "list.1.y unknown_member", "list.1.x required",
            ])
    }

    @Test("a pointer escapes a slash or a tilde and keeps a dot")
    func pointers() throws {
        let names = JSONSchema.map(of: .array(of: .boolean, count: 0...2), count: 0...9)
        let found = names.problems(in: try JSONDocument(Array(#"{"a.b":[true,1],"c/d~":2}"#.utf8)).root)
        #expect(found.map(\.field) == ["a.b.1", "c/d~"] && found.map(\.pointer) == ["/a.b/1", "/c~1d~0"])
        #expect(names.problems(in: try JSONDocument(Array("1".utf8)).root).map(\.pointer) == [""])
    }

    @Test("only public documents mark deprecated members")
    func deprecated() {
        let schema = JSONSchema.object([.optional("old", .boolean, "Use `new`.", isDeprecated: true)])
        for (place, expected) in [(JSONSchema.Place.publicReply, JSONValue.bool(true)), (.publicRequest, true)] {
            #expect(schema.exported(place)["properties"]?["old"]?["deprecated"] == expected)
        }
        #expect(schema.exported(.bus)["properties"]?["old"]?["deprecated"] == nil)
    }

    @Test func atMostAHundredProblemsAreReported() throws {
        let members = (0..<4000).map { "\"m\($0)\":1" }.joined(separator: ",")
        let found = try problems("{ID,\"name\":\"abc\",\(members)}")
        #expect(found.count == 100 && found.first == "m0 unknown_member")
        let lists = JSONSchema.array(of: .map(of: .boolean, count: 0...1000), count: 0...1000)
        let text = "[" + (0..<200).map { _ in #"{"a":1,"b":2}"# }.joined(separator: ",") + "]"
        #expect(lists.problems(in: try JSONDocument(Array(text.utf8)).root).count == 100)
    }

    @Test(
        "accepted",
        arguments: [
            #"{ID,"name":"ab"}"#, #"{"id":"0190A5B0-7C1E-7000-8000-000000000001","name":"abc"}"#,
            #"{ID,"name":"äöåéü","maybe":null,"free":{"k":true,"l":"abc"}}"#,
            #"{ID,"name":"abc","born":"2024-02-29","at":"2026-02-20T09:00:00.125Z","code":"012345"}"#,
            #"{ID,"name":"abc","at":"2026-02-20T09:00:00+00:00"}"#,
            #"{ID,"name":"abc","at":"2026-02-20T09:00:00.123456789-08:00"}"#,
            #"{ID,"name":"abc","list":[{"x":0},{"x":1}],"age":0,"kind":"b"}"#,
        ])
    func accepted(text: String) throws { #expect(try problems(text) == []) }

    @Test(
        "refused",
        arguments: [
            (#"{ID,"name":7}"#, "name wrong_type"), (#"{ID,"name":"abc","born":"2023-02-29"}"#, "born malformed"),
            (#"{ID,"name":"abc","at":"2026-02-20T24:00:00Z"}"#, "at malformed"),
            (#"{ID,"name":"abc","at":"2026-02-20T09:00:00"}"#, "at malformed"),
            (#"{ID,"name":"abc","at":"2026-02-20T09:00:00.Z"}"#, "at malformed"),
            (#"{ID,"name":"abc","at":"2026-02-20T09:00:00.1234567890Z"}"#, "at malformed"),
            (#"{ID,"name":"abc","at":"2026-02-20T09:00:00+24:00"}"#, "at malformed"),
            (#"{ID,"name":"abc","at":"2026-02-20T09:00:00+0100"}"#, "at malformed"),
            (#"{ID,"name":"abc","at":"9999-12-31T23:59:59-00:01"}"#, "at malformed"),
            (#"{ID,"name":"abc","age":1.0}"#, "age wrong_type"), (#"{ID,"name":"abc","age":null}"#, "age wrong_type"),
            (#"{ID,"name":"abc","code":"12345a"}"#, "code malformed"),
            (#"{ID,"name":"abc","list":[]}"#, "list too_few"),
            (#"{ID,"name":"abc","free":{"k":"abcd"}}"#, "free.k too_long"),
            (#"{"id":"0190a5b0-7c1e-7000-8000-00000000000g","name":"abc"}"#, "id malformed"),
        ])
    func refused(text: String, problem: String) throws { #expect(try problems(text) == [problem]) }

    @Test func aBodyThatIsNoObjectHasOneProblem() throws { #expect(try problems("[]") == [" wrong_type"]) }
}
