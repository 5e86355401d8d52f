/// The contracts of the messages that profile answers or tells.
enum ProfileContracts {
    static let all: [any MessageContract.Type] = []
}
