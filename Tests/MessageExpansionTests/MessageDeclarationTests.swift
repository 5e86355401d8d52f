import Testing

@testable import MessageExpansion

/// How declarations are read, and the error for a wrong one. The contract suite checks the members that `@Message`
/// makes: it compares every message with `Codable`.
@Suite("message declarations") struct MessageDeclarationTests {
    private func fields(_ body: String) throws -> [MessageDeclaration.Field] {
        try MessageDeclaration("@Message\npublic struct M: MessageValue {\n\(body)\n}").fields
    }

    @Test func storedPropertiesAreFields() throws {
        let found = try fields(
            """
                public typealias Reply = Other
                public static let most = 3
                public static let rules = MessageRules(
                    service: .auth, callers: [.gateway])
                /// Who it is.
                ///
                /// Not for readers of the schema.
                public var person: Identifier
                // var commented: Int64
                @Field(.string(1...64), count: 0...most, from: .query("x, y")) public var names: [String]? // trailing
                @Field(
                    .values("a", "}"))
                package var `class`: String = "a { b"
                public var isLong: Bool { names != nil }
                var counted: Int64 {
                    var inner: Int64 = 0
                    return inner
                }
                struct Nested { var hidden: Bool }
                static var shared: Int64 = 0
            """)
        #expect(found.map(\.plainName) == ["person", "names", "class"])
        #expect(found.map(\.type) == ["Identifier", "[String]?", "String"])
        #expect(found.map(\.words) == ["Who it is.", "", ""])
        #expect(found.map(\.schema) == [nil, ".string(1...64)", ".values(\"a\", \"}\")"])
        #expect(found[1].labels == ["count": "0...most", "from": ".query(\"x, y\")"])
        #expect(found[2].initial == "\"a { b\"")
    }

    @Test func theCommentOfAStructureGoesIntoItsSchema() throws {
        let message = try MessageDeclaration(
            "/// One thing,\n/// and more.\n///\n/// Not this.\n@Message\nstruct M {\n}")
        #expect(message.words == "One thing, and more.")
        #expect(try message.members().contains(".named(Self.self, \"One thing, and more.\")"))
    }

    @Test func aDeprecatedMemberIsMarkedInTheSchema() throws {
        let message = try MessageDeclaration("struct M {\n @Field(isDeprecated: true) public var a: Bool?\n}")
        #expect(try message.members().contains(".optional(\"a\", Bool.schema, isDeprecated: true)"))
    }

    @Test func anExampleIsOnlyInTheSchema() throws {
        let message = try MessageDeclaration(
            "struct M {\n @Field(.count, example: 3, inExamples: true) public var a: Int64?\n}")
        #expect(try message.members().contains(".optional(\"a\", .count, example: 3, inExamples: true)"))
    }

    @Test func aStructureWithAnInitialiserKeepsIt() throws {
        let own = try MessageDeclaration("struct M { var a: Bool\n public init(not: Bool) { a = !not } }")
        #expect(own.hasInitialiser)
        #expect(try !own.members().contains("init(a:"))
        let decoded = try MessageDeclaration("struct M {\n var a: Bool\n public init(from decoder: any Decoder) {} }")
        #expect(!decoded.hasInitialiser)
    }

    @Test(
        "each omission is named at its place",
        arguments: [
            ("public var a: String", "say what 'a' may be: @Field(.string(1...64))"),
            ("public var a: [Identifier]", "say how many 'a' may have: @Field(count: 0...100)"),
            (
                "public var a: [String: Identifier]",
                "say how many 'a' may have: @Field(count: 0...100)"
            ),
            ("public var a = 3", "a field of a message is one property with its type"),
        ])
    func mistakes(field: String, message: String) throws {
        let source = "@Message struct M {\n    public var good: Bool\n    \(field)\n}"
        let problem = #expect(throws: MessageDeclaration.Problem.self) { try MessageDeclaration(source).members() }
        #expect(problem?.message == message)
        #expect(problem?.offset == 50)
    }

    @Test(
        "a route and the fields from its path fit",
        arguments: [
            ("/users/{id}", "id", nil), ("/users/{id}", "key", "no field comes from {id} of the path"),
            ("/users", "id", "the path has no {id}"),
        ])
    func routes(path: String, source: String, message: String?) throws {
        let text = """
            @Message struct M {
                public static let route = HTTPRoute(.get, "\(path)", .user, "A person.")
                @Field(from: .path("\(source)")) public var personId: Identifier
            }
            """
        guard let message else {
            #expect(try MessageDeclaration(text).fields.count == 1)
            return
        }
        let problem = #expect(throws: MessageDeclaration.Problem.self) { try MessageDeclaration(text) }
        #expect(problem?.message == message)
    }

    @Test func aMistakeIsReportedToTheCompilerWithItsPlace() throws {
        let source = "@Message struct M {\n var a: String\n}"
        let request = CompilerConversation.Request(
            expandAttachedMacro: .init(
                macro: .init(name: "Message"),
                declSyntax: .init(source: source, location: .init(fileName: "M.swift", offset: 100))))
        let answer = try #require(CompilerConversation.answer(request).expandMacroResult)
        #expect(answer.expandedSource == nil)
        #expect(answer.diagnostics.map(\.position.offset) == [121])
        #expect(answer.diagnostics.map(\.position.fileName) == ["M.swift"])
    }
}
