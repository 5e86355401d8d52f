import BusProtocol
import JSONText
import TestSupport
import Testing

/// Checks the bodies of every message type and version, without a service.
///
/// They write and read each body in two ways: with the compiler's `Codable` and with the code that `@Message`
/// generates.
@Suite("bodies") struct SchemaContractTests {
    private func written(_ value: some MessageValue) throws -> [UInt8] {
        let bytes = value.jsonBytes
        #expect(try WireJSON.encode(value) == bytes)
        return bytes
    }

    private func read<Value: MessageValue>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let value = try Value(json: JSONDocument(bytes).root)
        #expect(try WireJSON.decode(type, from: bytes) == value)
        return value
    }

    @Test("released bodies stay as they are, to the byte", arguments: AnyContract.examined)
    func golden(contract: AnyContract) throws { try golden(contract.contract) }

    private func golden<C: MessageContract>(_ contract: C.Type) throws {
        for (name, sample) in [("canonical", C.canonical), ("minimal", C.minimal), ("maximal", C.maximal)] {
            let bytes = try Fixtures.bytes(C.folder, "request.\(name)", recording: sample)
            #expect(try written(sample) == bytes, "request.\(name)")
            #expect(try read(C.self, from: bytes) == sample, "request.\(name)")
            #expect(C.schema.problems(in: try JSONDocument(bytes).root).isEmpty, "request.\(name)")
            #expect(bytes.count <= C.rules.largestBody)
        }
        let replies = [
            ("canonical", C.canonicalReply), ("minimal", C.minimalReply), ("maximal", C.maximalReply),
        ]
        for (name, sample) in replies {
            let bytes = try Fixtures.bytes(C.folder, "reply.\(name)", recording: sample)
            #expect(try written(sample) == bytes, "reply.\(name)")
            #expect(try read(C.Reply.self, from: bytes) == sample, "reply.\(name)")
            #expect(C.Reply.schema.problems(in: try JSONDocument(bytes).root) == [], "reply.\(name)")
        }
    }

    @Test("every declared error has a sample that keeps its bytes", arguments: AnyContract.examined)
    func errors(contract: AnyContract) throws { try errors(contract.contract) }

    private func errors<C: MessageContract>(_ contract: C.Type) throws {
        #expect(C.errors.map(\.code) == C.rules.errors.map(\.name))
        for (sample, code) in zip(C.errors, C.rules.errors) {
            let states = try Fixtures.errors(C.folder, sample)
            #expect(states.last == sample)
            for (earlier, later) in zip(states, states.dropFirst()) {
                #expect(Self.mayBecome(earlier, later), "error.\(sample.code)")
            }
            #expect(sample.status == code.status && (400...599).contains(code.httpStatus))
            #expect(!sample.detail.isEmpty)
        }
    }

    /// Whether an error may change like this within a version. Its details may get new members, and lists in the
    /// details may get new entries at the end. Everything else stays.
    private static func mayBecome(_ earlier: BusError, _ later: BusError) -> Bool {
        var same = later
        same.details = earlier.details
        let hasAll = (earlier.details ?? [:]).allSatisfy { name, value in
            guard let known = value.arrayValue, let grown = later.details?[name]?.arrayValue else {
                return later.details?[name] == value
            }
            return grown.starts(with: known)
        }
        return same == earlier && hasAll
    }

    @Test("each change of a body is judged and the refusal names its field", arguments: AnyContract.examined)
    func mutations(contract: AnyContract) throws { try mutations(contract.contract) }

    private func mutations<C: MessageContract>(_ contract: C.Type) throws {
        for sample in [C.canonical, C.maximal] {
            let body = try JSONValue.parse(written(sample))
            for mutation in Mutation.all(of: body, by: C.schema) {
                let bytes = CanonicalJSON.bytes(of: mutation.body)
                let problems = C.schema.problems(in: try JSONDocument(bytes).root)
                if let field = mutation.refusedField {
                    #expect(problems.contains { $0.field == field }, "\(mutation.label): \(problems)")
                    #expect(problems.allSatisfy { !$0.message.isEmpty && !$0.code.isEmpty })
                } else {
                    #expect(problems.isEmpty, "\(mutation.label): \(problems)")
                }
            }
        }
    }

    @Test(
        "unknown members of a newer body are skipped at every level",
        arguments: AnyContract.examined)
    func unknownMembers(contract: AnyContract) throws { try unknownMembers(contract.contract) }

    private func unknownMembers<C: MessageContract>(_ contract: C.Type) throws {
        let body = try JSONValue.parse(written(C.maximal))
        for newer in Mutation.unknownMembers(in: body, by: C.schema) {
            let bytes = CanonicalJSON.bytes(of: newer)
            #expect(try read(C.self, from: bytes) == C.maximal)
            let problems = C.schema.problems(in: try JSONDocument(bytes).root)
            #expect(problems.map(\.code) == ["unknown_member"], "the gateway refuses what the bus skips")
        }
    }

    @Test("a body that the schema accepts is one that the type decodes", arguments: AnyContract.examined)
    func schemaAndTypeAgree(contract: AnyContract) throws { try schemaAndTypeAgree(contract.contract) }

    private func schemaAndTypeAgree<C: MessageContract>(_ contract: C.Type) throws {
        let body = try JSONValue.parse(written(C.maximal))
        for mutation in Mutation.all(of: body, by: C.schema) {
            let bytes = CanonicalJSON.bytes(of: mutation.body)
            guard C.schema.problems(in: try JSONDocument(bytes).root).isEmpty else { continue }
            let decoded = try read(C.self, from: bytes)
            #expect(try JSONValue.parse(written(decoded)) == mutation.body, "\(mutation.label)")
        }
    }

    @Test("every body that the schema allows reads back unchanged", arguments: AnyContract.examined)
    func generated(contract: AnyContract) throws { try generated(contract.contract) }

    private func generated<C: MessageContract>(_ contract: C.Type) throws {
        for number in 0..<Rounds.count(10, prove: 100) {
            try roundTrips(C.self, C.schema, seed: "\(C.folder) request \(number)")
            let seed = "\(C.folder) reply \(number)"
            try roundTrips(C.Reply.self, C.Reply.schema, seed: seed)
        }
    }

    private func roundTrips<Body: MessageValue>(_ type: Body.Type, _ schema: JSONSchema, seed: String) throws {
        var generator = BodyGenerator(seed: seed)
        let bytes = CanonicalJSON.bytes(of: generator.body(of: schema))
        let body = try JSONDocument(bytes).root
        #expect(schema.problems(in: body) == [], "\(seed)")
        let encoded = try written(try read(Body.self, from: bytes))
        let isSame = try encoded == bytes || JSONValue.parse(encoded).withoutNulls == body.value.withoutNulls
        #expect(isSame, "\(seed)")
    }

    @Test("every body that was ever released still decodes", arguments: AnyContract.examined)
    func released(contract: AnyContract) throws { try released(contract.contract) }

    private func released<C: MessageContract>(_ contract: C.Type) throws {
        for name in try Fixtures.names(in: C.folder) {
            let bytes = try Fixtures.bytes(C.folder, name)
            switch name.prefix(while: { $0 != "." }) {
            case "request": _ = try read(C.self, from: bytes)
            case "reply": _ = try read(C.Reply.self, from: bytes)
            case "error": _ = try WireJSON.decode(BusError.self, from: bytes)
            default: #expect(name.hasPrefix("schema."), "\(name) is no body")
            }
        }
    }
}

extension JSONValue {
    /// Some types write an absent member as null and others leave it out. Both mean the same to a reader.
    fileprivate var withoutNulls: JSONValue {
        guard case .object(let members) = self else {
            if case .array(let elements) = self { return .array(elements.map(\.withoutNulls)) }
            return self
        }
        return .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
    }
}
