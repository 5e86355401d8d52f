extension Int64 {
    /// Reads the number of a draft or of a version from a path; `nil` for any other text than 1 to 2,147,483,647 in digits.
    package init?(documentNumber text: String) {
        guard let number = Int64(text), (1...2_147_483_647).contains(number), String(number) == text else { return nil }
        self = number
    }
}
