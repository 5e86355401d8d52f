/// Every message type and version of the bus, each once. A type that is missing here is refused by the contract suite.
public enum Catalogue {
    public static let all: [any BusRequest.Type] = auth + profile + questionnaire + recovery
}
