/// The error of a part that a test breaks on purpose.
public struct Broken: Error, Equatable {
    /// The part that failed, if a test needs to tell several apart.
    public let place: String

    /// Creates an error.
    public init(place: String = "") { self.place = place }
}
