/// A film of the list.
public struct Film: Codable, Sendable, Hashable, Identifiable {
    /// The film's number on the server.
    public let id: Int
    /// The title.
    public let title: String
    /// The year of the first showing.
    public let year: Int
    /// The path of the poster, below the API's base URL.
    public let poster: String
}
