// Common calls and mistakes, with the compiler's answers. Scripts/check-diagnostics compiles each block separately.

// A literal with values of several types.
// error: Write `body: .json([…])`, or encode a type of your own.
try await api.post("/orders", body: ["limit": 20, "title": "x"])

// The same, with a result.
// error: Write `body: .json([…])`, or encode a type of your own.
let user: User = try await api.patch("/orders", body: ["limit": 20, "tags": ["a"]])

// A dictionary of anything.
// error: Write `body: .json([…])`, or encode a type of your own.
func send(_ values: [String: Any]) async throws { try await api.put("/orders", body: values) }

// A body that is no value.
// error: Write `body: .stream(body, type: …)`.
try await api.put("/photo", body: HTTPBody(file: file))

// A form, with a result or without.
// compiles
try await api.post("/login", body: .form(["user": "ada"]))
let user = try await api.put("/login", body: form, as: User.self)

// A value that can't be encoded.
// error: requires that 'Client' conform to 'Encodable'
try await api.post("/orders", body: api)

// A value that can't be decoded.
// error: requires that 'Client' conform to 'Decodable'
let client = try await api.get("/orders", as: Client.self)

// An unknown label.
// error: incorrect argument label in call (have '_:qery:', expected '_:query:')
let user: User = try await api.get("/orders", qery: [:])

// A number as a target.
// error: Write a literal of unwrapped URLValues, "/users/\(id)". A whole path or URL: .init(text: next).
let user: User = try await api.get(42)

// A value that no URL can hold, in a literal.
// error: requires that 'Account' conform to 'URLValue'
try await api.delete("/users/\(account)")

// A text with an appended value.
// error: Write the value into the literal, which encodes it: "/users/\(id)".
try await api.get("/users/" + name)

// The same, of another verb and between two texts.
// error: Write the value into the literal, which encodes it: "/users/\(id)".
try await api.delete("/users/" + id + "/photo")

// A text from elsewhere.
// error: Write a literal of unwrapped URLValues, "/users/\(id)". A whole path or URL: .init(text: next).
try await api.get(name)

// The same, with a result and a query.
// error: Write a literal of unwrapped URLValues, "/users/\(id)". A whole path or URL: .init(text: next).
let user: User = try await api.get(name, query: ["page": 2])

// The same, of another verb.
// error: cannot convert value of type 'String' to expected argument type 'RequestTarget'
try await api.post(name, body: newUser)

// compiles
try await api.get(.init(text: name))
let user: User = try await api.post(.init(text: name), body: newUser)

// Dictionaries instead of literals.
// error: cannot convert value of type '[String : String]' to expected argument type 'HTTPQuery'
let query = ["page": "2"]
let users: [User] = try await api.get("/users", query: query)

// A dictionary of fields.
// error: cannot convert value of type '[String : String]' to expected argument type 'HTTPFields'
let fields = ["X-Client": "ios"]
try await api.post("/users", body: newUser, headers: fields)

// compiles
let (query, fields) = (["page": "2"], ["X-Client": "ios"])
let users: [User] = try await api.get("/users", query: HTTPQuery(query), headers: HTTPFields(fields))

// A limit for one call.
// error: Write `context: .with(\.timeouts, Timeouts(total: .seconds(5)))`.
let user: User = try await api.get("/users/42", timeout: 5)

// error: Write `context: .with(\.timeouts, Timeouts(total: .seconds(5)))`.
let user: User = try await api.get("/users/42", timeout: .seconds(5))

// A limit for all calls.
// error: Write `transport: .platform(timeouts: Timeouts(total: .seconds(5)))`.
let client = Client(baseURL: url, interceptors: chain, timeout: 5)

// compiles
let client = Client(baseURL: url, interceptors: chain, transport: .platform(timeouts: Timeouts(total: .seconds(5))))
let user: User = try await client.get("/users/42", context: .with(\.timeouts, Timeouts(total: .seconds(5))))

// The progress of a value.
// compiles
try await api.post("/users", body: newUser) { print($0.completed) }
let user: User = try await api.put("/users", body: newUser, progress: { print($0.completed) })

// An optional in a literal.
// error: Write a literal of unwrapped URLValues, "/users/\(id)". A whole path or URL: .init(text: next).
try await api.get("/users/\(cursor)")

// Raw bytes without their type.
// error: missing argument for parameter 'type' in call
try await api.post("/photo", body: .data(Data()))

// compiles
try await api.get("/ping")

// compiles
async let ping: Void = api.get("/ping")
async let user: User = api.get("/users/1", context: .with(\.timeouts, Timeouts(total: .seconds(3))))
_ = try await (ping, user)

// compiles
let user = try await api.get(nextURL, as: User.self)
let (film, response) = try await api.response(url, as: User.self)

// compiles
try await api.post("/orders", body: ["limit": 20, "page": 1])

// compiles
let title = "x"
let note: String? = nil
try await api.post("/orders", body: .json(["limit": 20, "title": title, "tags": ["a"], "note": note]))

// compiles
try await api.post("/photos", body: .multipart([.file(name: "photo", at: file)])) { print($0.completed) }

// compiles
try await api.download("/film.mp4", to: file) { print($0.completed) }

// compiles
for try await page in api.pages("/films", as: [User].self, next: .link) { print(page.count) }
for try await page in api.pages("/films", as: [User].self, next: .at { _, response in response.url }) { print(page) }
struct Page: Decodable, Sendable { let next: String? }
for try await page in api.pages("/films", as: Page.self, next: .at { page, _ in page.next }) { print(page) }
