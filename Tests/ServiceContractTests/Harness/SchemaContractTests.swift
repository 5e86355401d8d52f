import BusProtocol
import JSONText
import Testing

/// What holds for the bodies of every message type and version, without a service.
@Suite("bodies") struct SchemaContractTests {
    @Test("released bodies stay as they are, to the byte", arguments: AnyContract.all)
    func golden(contract: AnyContract) throws { try golden(contract.contract) }

    private func golden<C: MessageContract>(_ contract: C.Type) throws {
        for (name, sample) in [("canonical", C.canonical), ("minimal", C.minimal), ("maximal", C.maximal)] {
            let bytes = try Fixtures.bytes(C.folder, "request.\(name)", recording: sample)
            #expect(try WireJSON.encode(sample) == bytes, "request.\(name)")
            #expect(try WireJSON.decode(C.Message.self, from: bytes) == sample, "request.\(name)")
            #expect(C.Message.schema.problems(in: try JSONDocument(bytes).root).isEmpty, "request.\(name)")
            #expect(bytes.count <= C.Message.rules.largestBody)
        }
        let replies = [
            ("canonical", C.canonicalReply), ("minimal", C.minimalReply), ("maximal", C.maximalReply),
        ]
        for (name, sample) in replies {
            let bytes = try Fixtures.bytes(C.folder, "reply.\(name)", recording: sample)
            #expect(try WireJSON.encode(sample) == bytes, "reply.\(name)")
            #expect(try sample.encoded() == bytes, "reply.\(name), as it writes itself")
            #expect(try WireJSON.decode(C.Message.Reply.self, from: bytes) == sample, "reply.\(name)")
            #expect(C.Message.Reply.schema.problems(in: try JSONDocument(bytes).root) == [], "reply.\(name)")
        }
    }

    @Test("every declared error has a sample that keeps its bytes", arguments: AnyContract.all)
    func errors(contract: AnyContract) throws { try errors(contract.contract) }

    private func errors<C: MessageContract>(_ contract: C.Type) throws {
        #expect(C.errors.map(\.code) == C.Message.rules.errors.map(\.name))
        for (sample, code) in zip(C.errors, C.Message.rules.errors) {
            let states = try Fixtures.errors(C.folder, sample)
            #expect(states.last == sample)
            for (earlier, later) in zip(states, states.dropFirst()) {
                #expect(Self.mayBecome(earlier, later), "error.\(sample.code)")
            }
            #expect(sample.status == code.status && (400...599).contains(code.httpStatus))
            #expect(!sample.detail.isEmpty)
        }
    }

    /// Within a version an error's details gain members, and a list in them gains entries at its end. The rest stays.
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

    @Test("each single change of a body is judged, and the refusal names its field", arguments: AnyContract.all)
    func mutations(contract: AnyContract) throws { try mutations(contract.contract) }

    private func mutations<C: MessageContract>(_ contract: C.Type) throws {
        for sample in [C.canonical, C.maximal] {
            let body = try JSONValue.parse(try WireJSON.encode(sample))
            for mutation in Mutation.all(of: body, by: C.Message.schema) {
                let bytes = CanonicalJSON.bytes(of: mutation.body)
                let problems = C.Message.schema.problems(in: try JSONDocument(bytes).root)
                if let field = mutation.refusedField {
                    #expect(problems.contains { $0.field == field }, "\(mutation.label): \(problems)")
                    #expect(problems.allSatisfy { !$0.message.isEmpty && !$0.code.isEmpty })
                } else {
                    #expect(problems.isEmpty, "\(mutation.label): \(problems)")
                }
            }
        }
    }

    @Test("an older reader takes a newer body: unknown members are skipped at every level", arguments: AnyContract.all)
    func unknownMembers(contract: AnyContract) throws { try unknownMembers(contract.contract) }

    private func unknownMembers<C: MessageContract>(_ contract: C.Type) throws {
        let body = try JSONValue.parse(try WireJSON.encode(C.maximal))
        for newer in Mutation.unknownMembers(in: body, by: C.Message.schema) {
            let bytes = CanonicalJSON.bytes(of: newer)
            #expect(try WireJSON.decode(C.Message.self, from: bytes) == C.maximal)
            let problems = C.Message.schema.problems(in: try JSONDocument(bytes).root)
            #expect(problems.map(\.code) == ["unknown_member"], "the gateway refuses what the bus skips")
        }
    }

    @Test("a body that the schema accepts is one that the type decodes", arguments: AnyContract.all)
    func schemaAndTypeAgree(contract: AnyContract) throws { try schemaAndTypeAgree(contract.contract) }

    private func schemaAndTypeAgree<C: MessageContract>(_ contract: C.Type) throws {
        let body = try JSONValue.parse(try WireJSON.encode(C.maximal))
        for mutation in Mutation.all(of: body, by: C.Message.schema) {
            let bytes = CanonicalJSON.bytes(of: mutation.body)
            guard C.Message.schema.problems(in: try JSONDocument(bytes).root).isEmpty else { continue }
            let decoded = try WireJSON.decode(C.Message.self, from: bytes)
            #expect(try JSONValue.parse(try WireJSON.encode(decoded)) == mutation.body, "\(mutation.label)")
        }
    }

    @Test("whatever the schema allows comes through as it was", arguments: AnyContract.all)
    func generated(contract: AnyContract) throws { try generated(contract.contract) }

    private func generated<C: MessageContract>(_ contract: C.Type) throws {
        for number in 0..<100 {
            try comesThrough(C.Message.self, C.Message.schema, seed: "\(C.folder) request \(number)")
            let seed = "\(C.folder) reply \(number)"
            let (reply, bytes) = try comesThrough(C.Message.Reply.self, C.Message.Reply.schema, seed: seed)
            #expect(try reply.encoded() == bytes, "\(seed), as it writes itself")
        }
    }

    /// - Returns: the body, and how it is written.
    @discardableResult
    private func comesThrough<Body: Codable>(
        _ type: Body.Type, _ schema: JSONSchema, seed: String
    ) throws -> (Body, [UInt8]) {
        var generator = BodyGenerator(seed: seed)
        let bytes = CanonicalJSON.bytes(of: generator.body(of: schema))
        let body = try JSONDocument(bytes).root
        #expect(schema.problems(in: body) == [], "\(seed)")
        let decoded = try WireJSON.decode(Body.self, from: body)
        let encoded = try WireJSON.encode(decoded)
        let isSame = try encoded == bytes || JSONValue.parse(encoded).withoutNulls == body.value.withoutNulls
        #expect(isSame, "\(seed)")
        return (decoded, encoded)
    }

    @Test("every body that was ever released still decodes", arguments: AnyContract.all)
    func released(contract: AnyContract) throws { try released(contract.contract) }

    private func released<C: MessageContract>(_ contract: C.Type) throws {
        for name in try Fixtures.names(in: C.folder) {
            let bytes = try Fixtures.bytes(C.folder, name)
            switch name.prefix(while: { $0 != "." }) {
            case "request": _ = try WireJSON.decode(C.Message.self, from: bytes)
            case "reply": _ = try WireJSON.decode(C.Message.Reply.self, from: bytes)
            case "error": _ = try WireJSON.decode(BusError.self, from: bytes)
            default: #expect(name.hasPrefix("schema."), "\(name) is no body")
            }
        }
    }
}

extension JSONValue {
    /// A member that may be missing is written as null by some types and left out by others: the same to a reader.
    fileprivate var withoutNulls: JSONValue {
        guard case .object(let members) = self else {
            if case .array(let elements) = self { return .array(elements.map(\.withoutNulls)) }
            return self
        }
        return .object(members.filter { $0.value != .null }.mapValues(\.withoutNulls))
    }
}
