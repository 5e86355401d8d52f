import BusProtocol

extension StimulusStatistics {
    /// The statistics without the counts of the pictures, if these would tell single people's choices.
    var anonymous: StimulusStatistics {
        var shown = self
        if sessions < 20 { shown.items = [] }
        return shown
    }
}
