import BusProtocol

extension StimulusStatistics {
    /// With fewer sessions, the counts of the pictures would tell single people's choices.
    private static let fewestSessions: Int64 = 20

    /// The statistics as a member of staff may see them: without small counts of the pictures.
    var suppressingSmallCounts: StimulusStatistics {
        var shown = self
        if sessions < Self.fewestSessions { shown.items = [] }
        return shown
    }
}
