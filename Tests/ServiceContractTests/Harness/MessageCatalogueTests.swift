import BusProtocol
import JSONText
import TestSupport
import Testing

@testable import BusRuntime
@testable import Gateway

/// The message catalogue, the contracts and the fixture folders must have the same message types.
@Suite("the catalogue of messages") struct MessageCatalogueTests {
    private static let types = MessageCatalogue.all.map { "\($0.type)/v\($0.version)" }
    private static let contracts = AnyContract.all.map { $0.contract.folder }

    @Test func everyMessageTypeHasOneContractAndItsFixtures() throws {
        let folders = try Fixtures.folders()
        #expect(Absence.all(types: Self.types, contracts: Self.contracts, folders: folders) == [])
    }

    @Test func everyNamedExaminationHasAContract() {
        #expect(Set(AnyContract.named).subtracting(AnyContract.all.map { $0.contract.type.rawValue }) == [])
    }

    @Test func missingContractsAndFixturesAreNamed() throws {
        let (types, contracts) = (Self.types, Self.contracts)
        let folders = Set(types)
        let first = try #require(types.first)
        func absences(_ types: [String], _ contracts: [String], _ folders: Set<String>) -> [String] {
            Absence.all(types: types, contracts: contracts, folders: folders)
        }
        #expect(absences(types, contracts, folders) == [])
        #expect(absences(types, contracts.filter { $0 != first }, folders) == ["\(first) has no contract"])
        #expect(
            absences(types, contracts, folders.subtracting([first])) == [
                "\(first) has no fixtures: run make contract MESSAGE=\(first.split(separator: "/")[0])"
            ])
        let gone = absences(types.filter { $0 != first }, contracts, folders)
        #expect(gone == ["\(first) is in no message catalogue, but has a contract or fixtures"])
        #expect(absences(types + [first], contracts, folders) == ["\(first) stands twice in the message catalogue"])
        #expect(absences(types, contracts + [first], folders) == ["\(first) has two contracts"])
    }

    @Test func releasedRoutesStay() throws {
        let served = RouteTable.vestibule.routes.map { route in
            let words = [
                route.method.rawValue, route.path.text, "\(route.success)", route.binding?.type.rawValue,
                route.hidesItsTime ? "hidesItsTime" : nil,
            ]
            return words.compactMap { $0 }.joined(separator: " ")
        }
        #expect(difference(between: try Fixtures.routes(recording: served), and: served) == [])
    }

    @Test("names and permissions are well formed", arguments: MessageCatalogue.all.map { MessageCatalogueEntry($0) })
    func rules(entry: MessageCatalogueEntry) throws {
        let (type, rules) = (entry.message.type.rawValue, entry.message.rules)
        let parts = type.split(separator: ".")
        try #require(parts.count == 2)
        #expect(!rules.callers.isEmpty, "nobody may send it")
        #expect(type.allSatisfy { $0.isLowercase || $0 == "." || $0 == "-" })
        // An event is named after its producer. A request that several services answer is named after none of them.
        let mayDiffer = entry.message is any BusEvent.Type || !rules.alsoTold.isEmpty
        #expect(parts[0] == rules.service.rawValue || mayDiffer, "named after another service")
    }

    /// With such a token, an operator could act as another person.
    @Test("no reply with a token is an operator's", arguments: MessageCatalogue.all.map { MessageCatalogueEntry($0) })
    func tokens(entry: MessageCatalogueEntry) async throws {
        let rules = entry.message.rules
        let document = try JSONValue.parse(CanonicalJSON.bytes(of: MessageDocument(entry.message).value))
        let secrets = Self.secrets(in: document["$defs"]?["reply"] ?? .null)
        #expect(secrets.isEmpty || rules.replyCarriesToken, "\(secrets) would be stored, and given to operators")
        if rules.replyCarriesToken { await expectNoOperator(entry) }
    }

    /// With an event, an operator could make other services erase a person whose account exists.
    @Test("no event is an operator's", arguments: MessageCatalogue.all.map { MessageCatalogueEntry($0) })
    func events(entry: MessageCatalogueEntry) async {
        if entry.message is any BusEvent.Type { await expectNoOperator(entry) }
    }

    private func expectNoOperator(_ entry: MessageCatalogueEntry) async {
        for isAsOperator in [false, true] {
            let isAllowed = await RequestDispatcher.allows(
                entry.message.rules, isEvent: entry.message is any BusEvent.Type, .operator, isAsOperator: isAsOperator)
            #expect(!isAllowed)
        }
    }

    /// The members of a schema that contain a token, a secret or a nonce.
    private static func secrets(in schema: JSONValue) -> [String] {
        switch schema {
        case .array(let parts): return parts.flatMap { secrets(in: $0) }
        case .object(let members):
            let own = (members["properties"]?.objectValue ?? [:]).filter { name, schema in
                schema["type"] == "string"
                    && ["token", "secret", "nonce"].contains { name.lowercased().hasSuffix($0) }
            }
            return own.keys + members.values.flatMap { secrets(in: $0) }
        default: return []
        }
    }
}

/// The message types that are in one of the three lists but not in another.
enum Absence {
    static func all(types: [String], contracts: [String], folders: Set<String>) -> [String] {
        let (known, held) = (Set(types), Set(contracts))
        return known.subtracting(held).sorted().map { "\($0) has no contract" }
            + known.subtracting(folders).sorted().map {
                "\($0) has no fixtures: run make contract MESSAGE=\($0.split(separator: "/")[0])"
            }
            + held.union(folders).subtracting(known).sorted()
            .map { "\($0) is in no message catalogue, but has a contract or fixtures" }
            + twice(types).map { "\($0) stands twice in the message catalogue" }
            + twice(contracts).map { "\($0) has two contracts" }
    }

    private static func twice(_ names: [String]) -> [String] {
        Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }
}

struct MessageCatalogueEntry: Sendable, CustomTestStringConvertible {
    let message: any BusRequest.Type
    init(_ message: any BusRequest.Type) { self.message = message }
    var testDescription: String { message.type.rawValue }
}
