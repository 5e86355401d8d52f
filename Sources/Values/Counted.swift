extension Int64 {
    /// The number with its noun, for a sentence: `1 second`, `42 seconds`.
    public func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
