// Common calls and mistakes, with the compiler's answers. Scripts/check-diagnostics compiles each block separately.

// A literal with values of several types.
// error: Write `content: .json([…])`, or encode a type of your own.
try await api.post("/orders", body: ["limit": 20, "title": "x"])

// The same, with a result.
// error: Write `content: .json([…])`, or encode a type of your own.
let user: User = try await api.patch("/orders", body: ["limit": 20, "tags": ["a"]])

// A dictionary of anything.
// error: Write `content: .json([…])`, or encode a type of your own.
func send(_ values: [String: Any]) async throws { try await api.put("/orders", body: values) }

// A body that is no value.
// error: Write `content: .raw(body, type: …)`.
try await api.put("/photo", body: HTTPBody(file: file))

// Content as a body.
// error: Write `content:` instead of `body:`.
try await api.post("/login", body: .form(["user": "ada"]))

// Content as a body, with a result.
// error: Write `content:` instead of `body:`.
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
// error: Write a literal: "/users/\(id)".
let user: User = try await api.get(42)

// A value that no URL can hold, in a literal.
// error: requires that 'Account' conform to 'URLValue'
try await api.get("/users/\(account)")

// A text with an appended value.
// error: Write the value into the literal, which encodes it: "/users/\(id)".
try await api.get("/users/" + name)

// The same, of another verb and between two texts.
// error: Write the value into the literal, which encodes it: "/users/\(id)".
try await api.delete("/users/" + id + "/photo")

// A text from elsewhere.
// error: no exact matches in call to instance method 'get'
try await api.get(name)

// An optional in a literal.
// error: value of optional type 'String?' must be unwrapped
try await api.get("/users/\(cursor)")

// Raw bytes without their type.
// error: cannot convert value of type 'Data' to expected argument type 'RequestContent'
try await api.post("/photo", content: Data())

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
try await api.post("/orders", content: .json(["limit": 20, "title": title, "tags": ["a"], "note": note]))

// compiles
try await api.post("/photos", content: .multipart([.file(name: "photo", at: file)])) { print($0.completed) }

// compiles
try await api.download("/film.mp4", to: file) { print($0.completed) }

// compiles
for try await page in api.pages("/films", as: [User].self, next: .link) { print(page.count) }
for try await page in api.pages("/films", as: [User].self, next: .at { _, response in response.url }) { print(page) }
