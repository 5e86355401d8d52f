extension Catalogue {
    /// What recovery answers, and the events that it tells.
    static let recovery: [any BusRequest.Type] = []
}
