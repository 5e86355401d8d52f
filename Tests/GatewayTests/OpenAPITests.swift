import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import Gateway

@Suite("OpenAPI document") struct OpenAPITests {
    private let table = RouteTable.vestibule
    private let document: JSONValue

    init() throws {
        // What is served is what a strict reader takes.
        let table = RouteTable.vestibule
        let bytes = CanonicalJSON.bytes(
            of: OpenAPIDocument(table: table, exportSchema: ExportDocument.schema).value())
        document = try JSONValue.parse(bytes, limits: JSONLimits(depth: 64, values: 100_000))
    }

    private func operation(_ route: Route) -> JSONValue? {
        document["paths"]?[route.path.text]?[route.method.rawValue.lowercased()]
    }

    @Test func namesEveryRouteAndNoOther() throws {
        #expect(document["openapi"] == "3.1.0")
        for route in table.routes { #expect(operation(route) != nil, "\(route.path.text)") }
        let paths = try #require(document["paths"]?.objectValue)
        #expect(paths.values.reduce(0) { $0 + ($1.objectValue?.count ?? 0) } == table.routes.count)
    }

    @Test func operationsAreNamedOnceAndAnswered() throws {
        let names = table.routes.map { operation($0)?["operationId"]?.stringValue ?? "" }
        #expect(Set(names).count == table.routes.count)
        for route in table.routes {
            let responses = try #require(operation(route)?["responses"]?.objectValue)
            #expect(responses[String(route.success)] != nil, "\(route.path.text)")
            #expect(responses.values.allSatisfy { $0["description"] != nil || $0["$ref"] != nil })
        }
    }

    @Test func everyParameterOfAPathIsDeclared() {
        for route in table.routes {
            let declared = operation(route)?["parameters"]?.arrayValue ?? []
            let names = declared.filter { $0["in"] == "path" && $0["required"] == true }.compactMap {
                $0["name"]?.stringValue
            }
            #expect(difference(between: names, and: route.path.parameters) == [], "\(route.path.text)")
        }
    }

    @Test func everyReferenceLeadsSomewhere() throws {
        for reference in Self.references(in: document) {
            let parts = reference.split(separator: "/").dropFirst()
            #expect(reference.hasPrefix("#/"))
            let target = parts.reduce(JSONValue?.some(document)) { $0?[String($1)] }
            #expect(target != nil, "\(reference)")
        }
        let schemes = try #require(document["components"]?["securitySchemes"]?.objectValue)
        for route in table.routes {
            for choice in operation(route)?["security"]?.arrayValue ?? [] {
                #expect(choice.objectValue?.keys.allSatisfy { schemes[$0] != nil } ?? false)
            }
        }
    }

    @Test("a body's schema has no member of the path")
    func bodies() throws {
        let route = try #require(table.routes.first { $0.path.text == "/users/me/devices/{id}" && $0.method == .put })
        let schema = resolved(operation(route)?["requestBody"]?["content"]?["application/json"]?["schema"])
        #expect(schema?["properties"]?["name"] != nil)
        #expect(schema?["properties"]?["deviceId"] == nil)
    }

    @Test("every object and every enumeration has a name and words")
    func namesAndWords() throws {
        let schemas = try #require(document["components"]?["schemas"]?.objectValue)
        for (name, schema) in schemas {
            #expect(schema["description"]?.stringValue?.isEmpty == false, "\(name) has no words")
            #expect(Self.faults(in: schema, isNamed: true) == [], "\(name)")
        }
        for route in table.routes {
            let operation = try #require(self.operation(route))
            let parameters = (operation["parameters"]?.arrayValue ?? []).compactMap { resolved($0) }
            let used = [operation["requestBody"] ?? .null] + (operation["responses"]?.objectValue ?? [:]).values
            let media = used.flatMap { (resolved($0)?["content"]?.objectValue ?? [:]).values }
            for schema in (parameters + media).compactMap({ $0["schema"] }) {
                #expect(Self.faults(in: schema) == [], "\(route.id)")
            }
            for words in [operation] + parameters {
                #expect(words["description"]?.stringValue?.isEmpty == false, "\(route.id)")
            }
            #expect(operation["tags"]?.arrayValue?.count == 1, "\(route.id)")
        }
    }

    @Test("each value of an enumeration has a distinct generated name")
    func namesOfValues() throws {
        for (name, schema) in try #require(document["components"]?["schemas"]?.objectValue) {
            let values = schema["enum"]?.arrayValue ?? []
            let names = (schema["x-enum-varnames"]?.arrayValue ?? values).compactMap(\.stringValue)
            let read = names.map { $0.uppercased().filter { $0.isLetter || $0.isNumber } }
            #expect(Set(read).count == values.count, "\(name)")
        }
    }

    @Test("answers may grow, and a request is exact")
    func answersMayGrow() throws {
        let schemas = try #require(document["components"]?["schemas"]?.objectValue)
        let me = try #require(schemas["Me"])
        #expect(
            me["properties"]?["onboardingStatus"]?["anyOf"] == [
                ["$ref": "#/components/schemas/OnboardingStatus"], ["type": "string"],
            ])
        #expect(me["additionalProperties"] == nil && schemas["VerifyOTPRequest"]?["additionalProperties"] == false)
        #expect(schemas["Session"]?["properties"]?["tokenType"]?["anyOf"] == nil)
        let body = schemas["PutAnswerRequest"]?["properties"]
        #expect(body?["state"]?["$ref"] == "#/components/schemas/GivenAnswerState")
        #expect(body?["preference"]?["$ref"] == "#/components/schemas/AnswerPreferenceInput")
        #expect(schemas["PushKind"]?["enum"]?.arrayValue?.count == NoticeKind.known.count)
    }

    @Test("a deprecated member names a successor that is beside it")
    func deprecatedMembers() throws {
        var count = 0
        for (name, schema) in try #require(document["components"]?["schemas"]?.objectValue) {
            let members = schema["properties"]?.objectValue ?? [:]
            for (member, value) in members where value["deprecated"] == true {
                count += 1
                let words = value["description"]?.stringValue ?? ""
                let named = words.matches(of: /`([A-Za-z]+)`/).map { String($0.1) }
                #expect(named.contains { members[$0] != nil && members[$0]?["deprecated"] == nil }, "\(name).\(member)")
            }
        }
        #expect(count > 0)
    }

    @Test("no two schemas claim one name")
    func names() {
        let schemas = SchemaComponents()
        let bindings = table.routes.compactMap(\.binding)
        for binding in bindings { _ = schemas.exported(binding.replySchema) }
        for route in table.routes { _ = route.bodySchema.map { schemas.exported($0, .publicRequest) } }
        #expect(schemas.clashes == [])
    }

    /// Objects and enumerations without a name, and properties without words.
    private static func faults(in schema: JSONValue, isNamed: Bool = false) -> [String] {
        guard schema["$ref"] == nil else { return [] }
        let properties = schema["properties"]?.objectValue ?? [:]
        let isUnnamed = !isNamed && (!properties.isEmpty || schema["enum"] != nil)
        let silent = properties.filter { $0.value["description"]?.stringValue?.isEmpty ?? true }.keys.sorted()
        let inner = [schema["items"], schema["additionalProperties"]].compactMap { $0 } + properties.values
        return (isUnnamed ? ["no name: \(schema)"] : []) + silent.map { "\($0) has no words" }
            + (inner + (schema["anyOf"]?.arrayValue ?? [])).flatMap { faults(in: $0) }
    }

    /// What a reference leads to; anything else as it is.
    private func resolved(_ value: JSONValue?) -> JSONValue? {
        guard let reference = value?["$ref"]?.stringValue else { return value }
        return reference.split(separator: "/").dropFirst().reduce(JSONValue?.some(document)) { $0?[String($1)] }
    }

    @Test func everyExampleFitsItsSchema() throws {
        var count = 0
        for binding in table.routes.compactMap(\.binding) {
            for (schema, isWhole) in [(binding.schema, true), (binding.schema, false), (binding.replySchema, true)] {
                let bytes = CanonicalJSON.bytes(of: schema.example(isWhole: isWhole))
                let problems = schema.problems(in: try JSONDocument(bytes).root)
                #expect(problems.isEmpty, "\(binding.type)")
                count += 1
            }
        }
        #expect(count > 100)
        // Free names, and bounds that the common words do not fit.
        let odd = JSONSchema.object([
            .required("fields", .map(of: .any, count: 2...3)), .required("name", .string(12...12)),
            .required("code", .string(1...2)), .required("list", .array(of: .integer(5...9), count: 3...4)),
            .required("choice", .anyOf([.nullable(.number(-2...0)), .boolean])),
        ])
        let bytes = CanonicalJSON.bytes(of: odd.example(isWhole: false))
        #expect(odd.problems(in: try JSONDocument(bytes).root).isEmpty)
    }

    @Test("examples use chosen numbers and texts")
    func wordsOfExamples() throws {
        var known: Set<String> = []
        let webhooks = [SMSWebhook.schema, EmailWebhook.schema, PushWebhook.schema]
        let schemas = table.routes.compactMap(\.bodySchema) + table.routes.compactMap { $0.binding?.replySchema }
        for schema in schemas + webhooks { checkWords(of: schema, "", &known) }
        #expect(known.count > 200)
    }

    /// - Parameter known: names of the types that were looked at.
    private func checkWords(of schema: JSONSchema, _ owner: String, _ known: inout Set<String>) {
        switch schema {
        case .named(let name, let inner):
            if known.insert(name.text).inserted { checkWords(of: inner, name.text, &known) }
        case .object(let members):
            for member in members where !member.isDeprecated {
                let word = member.example ?? ExampleWords.all[member.name]
                let place: Comment = "\(owner).\(member.name)"
                switch leaf(of: member.schema) {
                case .integer: #expect(word?.integerValue != nil, place)
                case .number: #expect(word?.doubleValue != nil, place)
                case .string(let rule) where rule.values == nil && rule.known == nil && rule.format == nil:
                    #expect(word?.stringValue != nil, place)
                case let inner: checkWords(of: inner, owner, &known)
                }
            }
        case .array(let inner, _), .map(let inner, _), .nullable(let inner): checkWords(of: inner, owner, &known)
        case .anyOf(let choices): for choice in choices { checkWords(of: choice, owner, &known) }
        case .any, .boolean, .integer, .number, .string: break
        }
    }

    /// What stands in a member, or in the elements of its array.
    private func leaf(of schema: JSONSchema) -> JSONSchema {
        switch schema {
        case .nullable(let inner), .array(let inner, _): leaf(of: inner)
        case .anyOf(let choices): choices.first.map { leaf(of: $0) } ?? schema
        default: schema
        }
    }

    @Test("every answer is listed by its status and codes")
    func answers() throws {
        let route = try #require(table.routes.first { $0.path.text == "/auth/otp/verify" })
        let responses = try #require(operation(route)?["responses"]?.objectValue)
        let expected = [
            "200", "400", "403", "408", "409", "410", "413", "415", "422", "429", "431", "500", "503", "504",
        ]
        #expect(difference(between: expected, and: responses.keys) == [])
        let expired = try #require(responses["410"]?["$ref"]?.stringValue?.split(separator: "/").last)
        let component = document["components"]?["responses"]?[String(expired)]
        #expect(component?["x-problem-codes"] == ["link_token_expired", "otp_expired"])
        #expect(
            component?["content"]?["application/problem+json"]?["schema"] == ["$ref": "#/components/schemas/Problem"])
        for route in table.routes { #expect(operation(route)?["responses"]?["default"] == nil) }
    }

    @Test("the page is well formed, has all operations and loads nothing")
    func page() throws {
        let html = String(
            decoding: DocsPage(document, introduction: GuidePages.embedded.introduction).bytes, as: UTF8.self)
        for route in table.routes { #expect(html.contains("<details id=\"\(route.id)\"")) }
        // An address in an example is text.
        #expect(!html.contains(/=\s*["']?https?:/) && !html.contains(/url\(|@import/))
        // The guide comes first, then each task once, with a command for each operation.
        let guide = try #require(html.firstRange(of: "href=\"/docs/guide/first-sign-in\""))
        let first = try #require(html.firstRange(of: "<section>"))
        #expect(guide.lowerBound < first.lowerBound)
        #expect(html.matches(of: /<section>/).count == OperationTag.all.count)
        #expect(html.matches(of: #/<pre class="command">curl/#).count == table.routes.count)
        #expect(
            html.contains(
                "curl -X POST &quot;$api/auth/otp/send&quot; -H 'Content-Type: application/json' -d '{&quot;phone&quot;:"
            ))
        // Every element ends, in the order in which they began.
        var open: [Substring] = []
        for tag in html.matches(of: #/<(/?)([a-z0-9]+)[^>]*?(/?)>/#) {
            if tag.1 == "/" { #expect(open.popLast() == tag.2) } else if tag.3 != "/" { open.append(tag.2) }
        }
        #expect(open.isEmpty)
    }

    @Test("the page resolves references and shows defaults")
    func pageOfReferences() {
        let html = String(
            decoding: DocsPage([
                "tags": [["name": "Sign-in"]],
                "components": [
                    "schemas": [
                        "One": ["type": "object", "properties": ["first": ["type": "string", "default": "here"]]],
                        "Other": ["type": "object", "properties": ["second": ["type": "string"]]],
                    ]
                ],
                "paths": [
                    "/a": [
                        "post": [
                            "tags": ["Sign-in"],
                            "requestBody": [
                                "content": [
                                    "application/json": [
                                        "schema": [
                                            "anyOf": [
                                                ["$ref": "#/components/schemas/One"],
                                                ["$ref": "#/components/schemas/Other"],
                                            ]
                                        ]
                                    ]
                                ]
                            ],
                        ]
                    ]
                ],
            ]).bytes, as: UTF8.self)
        #expect(html.contains("<code>first</code>") && html.contains("<code>second</code>"))
        #expect(html.contains("default <code>&quot;here&quot;</code>"))
    }

    @Test func webhooksAreDescribed() {
        for (name, schema) in [("sms", "SMSWebhook"), ("email", "EmailWebhook"), ("push", "PushWebhook")] {
            let body = document["webhooks"]?[name]?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
            #expect(body == ["$ref": .string("#/components/schemas/\(schema)")])
        }
    }

    @Test func textsOfTheDocumentAreEscapedInThePage() {
        let wicked = JSONValue.string("<img src=x onerror=\"a&b\">")
        let html = String(
            decoding: DocsPage([
                "info": ["title": wicked], "tags": [["name": wicked]],
                "paths": [
                    "/<b>": [
                        "get": ["tags": [wicked], "summary": wicked, "responses": ["200": ["description": wicked]]]
                    ]
                ],
            ]).bytes, as: UTF8.self)
        #expect(!html.contains("<img") && !html.contains("<b>\""))
        #expect(html.contains("&lt;img src=x onerror=&quot;a&amp;b&quot;&gt;"))
    }

    private static func references(in value: JSONValue) -> [String] {
        switch value {
        case .object(let members):
            (members["$ref"]?.stringValue.map { [$0] } ?? []) + members.values.flatMap { references(in: $0) }
        case .array(let elements): elements.flatMap { references(in: $0) }
        default: []
        }
    }
}
