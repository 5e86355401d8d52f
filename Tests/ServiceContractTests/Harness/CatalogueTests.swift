import BusProtocol
import Testing

@testable import Gateway

/// Absence fails: the catalogue, the contracts and the fixture folders are one set.
@Suite("catalogue") struct CatalogueTests {
    @Test func everyMessageTypeHasExactlyOneContract() {
        let catalogue = Catalogue.all.map { "\($0.type)/v\($0.version)" }
        let contracts = AnyContract.all.map { $0.contract.folder }
        #expect(Set(catalogue).count == catalogue.count, "a message type stands twice in the catalogue")
        #expect(Set(contracts).count == contracts.count, "a message type has two contracts")
        #expect(Set(contracts) == Set(catalogue))
    }

    @Test func everyContractHasItsFixtures() throws {
        #expect(try Fixtures.folders() == Set(AnyContract.all.map { $0.contract.folder }))
    }

    @Test func thePublicRoutesAreThoseOfTheContracts() {
        let served = RouteTable.vestibule.routes.compactMap { route -> String? in
            guard case .message(let type) = route.target else { return nil }
            return "\(type): \(route.method.rawValue) \(route.path.text) \(route.success)"
        }
        let promised = AnyContract.all.compactMap { entry in
            entry.contract.route.map { "\(entry.contract.type): \($0)" }
        }
        #expect(Set(served) == Set(promised))
    }

    @Test("names and permissions are well formed", arguments: Catalogue.all.map { CatalogueEntry($0) })
    func rules(entry: CatalogueEntry) throws {
        let (type, rules) = (entry.message.type.rawValue, entry.message.rules)
        let parts = type.split(separator: ".")
        try #require(parts.count == 2)
        #expect(!rules.callers.isEmpty, "nobody may send it")
        #expect(type.allSatisfy { $0.isLowercase || $0 == "." || $0 == "-" })
        #expect(parts[0] == rules.service.rawValue || entry.message is any BusEvent.Type, "named after another service")
    }
}

struct CatalogueEntry: Sendable, CustomTestStringConvertible {
    let message: any BusRequest.Type
    init(_ message: any BusRequest.Type) { self.message = message }
    var testDescription: String { message.type.rawValue }
}
