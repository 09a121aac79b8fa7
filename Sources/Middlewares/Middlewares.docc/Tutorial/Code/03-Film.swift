public struct Film: Codable, Sendable {
    public let id: Int
    public let title: String
}
