import Database

extension Configuration {
    /// How PostgreSQL is reached. In production nobody on the way may read along or answer in its place.
    public func connectionString(_ name: String) throws(ConfigurationError) -> String {
        let connectionString = try text(name)
        guard profile != .production || !DatabaseConfiguration.isOpenToTheNetwork(connectionString) else {
            throw ConfigurationError("\(name) must say sslmode=verify-full: its host is reached over a network")
        }
        return connectionString
    }
}
