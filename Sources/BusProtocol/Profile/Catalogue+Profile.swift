extension Catalogue {
    /// What profile answers, and the events that it tells.
    static let profile: [any BusRequest.Type] = []
}
