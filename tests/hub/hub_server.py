"""A Hugging Face Hub on loopback: the part of its protocol that kzoo uses, and faults on demand.

Repositories with commits, branches and tags; small files inside commits, weights by LFS or by Xet, whose store is a
local folder that the real hf_xet reads and writes.
"""

import base64
import hashlib
import json
import re
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

FAR_AWAY = 4_000_000_000  # seconds since 1970


@dataclass
class File:
    """A file of a commit; `content` is None where only the Xet store has it."""

    content: bytes | None
    lfs: bool = False
    sha256: str = ""
    size: int = 0
    xet: str | None = None

    def __post_init__(self):
        if self.content is not None:
            self.sha256, self.size = hashlib.sha256(self.content).hexdigest(), len(self.content)

    @property
    def blob(self):
        content = self.content or self.sha256.encode()
        return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()

    @property
    def oid(self):
        """What the client compares its own file with."""
        return self.sha256 if self.lfs else self.blob

    def entry(self, path):
        """As the Hub lists a file."""
        found = {"type": "file", "path": path, "oid": self.blob, "size": self.size}
        if self.lfs:
            found["lfs"] = {"oid": self.sha256, "size": self.size, "pointerSize": 130}
        if self.xet:
            found["xetHash"] = self.xet
        return found


@dataclass
class Repository:
    """Commits by their id, and what the names of branches and tags stand for."""

    private: bool = False
    gated: bool = False
    commits: dict = field(default_factory=dict)
    messages: list = field(default_factory=list)
    branches: dict = field(default_factory=dict)
    tags: dict = field(default_factory=dict)

    def commit(self, files, message="a commit"):
        """Adds a commit to the branch main; `files` maps paths to bytes, File or None, which deletes."""
        parent = self.branches.get("main")
        changed = {path: File(content) if isinstance(content, bytes) else content for path, content in files.items()}
        tree = {**self.commits.get(parent, {}), **changed}
        listing = repr((parent, message, sorted((path, file and file.oid) for path, file in tree.items())))
        commit = hashlib.sha1(listing.encode()).hexdigest()
        self.commits[commit] = {path: file for path, file in tree.items() if file is not None}
        self.branches["main"] = commit
        self.messages.append(message)
        return commit

    def resolve(self, revision):
        """Returns the commit of a branch, a tag or a commit; None if there is none."""
        return {**self.branches, **self.tags, **{commit: commit for commit in self.commits}}.get(revision)


@dataclass
class Fault:
    """What happens to the next `times` requests whose method and path match."""

    pattern: str
    times: int
    status: int | None = None  # answered with instead, with this body and headers
    content: object = field(default_factory=lambda: {"error": "a fault"})
    headers: dict = field(default_factory=dict)
    cut: int | None = None  # bytes of the body after which the connection breaks
    call: object = None  # called before the request is served as usual


class HubServer:
    """The server: start it by making it, stop it with `stop`."""

    def __init__(self, xet_folder=None):
        self.repositories, self.objects, self.faults, self.requests, self.ranges = {}, {}, [], [], []
        self.authorizations = []  # of each request
        self.kinds, self.collections = {}, {}
        self.tokens = {"hf_writer": "write", "hf_reader": "read"}
        self.xet_folder = xet_folder
        self.lock, self.connections = threading.RLock(), set()
        handler = type("BoundHandler", (Handler,), {"hub": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def repository(self, name, **options):
        """Makes a repository with a first commit, as the Hub does."""
        self.repositories[name] = Repository(**options)
        self.repositories[name].commit({".gitattributes": b"*.safetensors filter=lfs\n"}, "initial commit")
        return self.repositories[name]

    def fault(self, pattern, times=1, **what):
        """Arranges for a fault; `pattern` is searched in "METHOD /path"."""
        self.faults.append(Fault(pattern, times, **what))

    def asked(self, pattern=""):
        """Returns the requests so far that match."""
        return [request for request in self.requests if re.search(pattern, request)]

    def stop(self):
        """Stops answering: the port is closed, and so are the connections that clients keep open."""
        self.http.shutdown()
        self.http.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the client was quicker

    def xet_hash(self, sha256):
        """Returns the Xet hash of the file with a SHA-256, read from the shards in the store; None if it is not there.

        A shard lists, behind a header of 48 bytes, for each file 48 bytes with its hash, flags and the number of its
        segments, then the segments, their verification if the flags say so, and the SHA-256.
        """
        for shard in (self.xet_folder / "xet" / "xorbs" / "shards").glob("*.mdb"):
            content, at = shard.read_bytes(), 48
            while content[at : at + 32] != b"\xff" * 32:
                file_hash, (flags, segments) = content[at : at + 32], struct.unpack_from("<II", content, at + 32)
                at += 48 * (1 + segments * (2 if flags & 0x80000000 else 1))
                if flags & 0x40000000:
                    if _hexadecimal(content[at : at + 32]) == sha256:
                        return _hexadecimal(file_hash)
                    at += 48
        return None


def _hexadecimal(digest):
    return b"".join(digest[i : i + 8][::-1] for i in range(0, 32, 8)).hex()


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status, code="", message=""):
        self.status, self.headers = status, {}
        if code:
            self.headers["X-Error-Code"] = code
        if message:
            self.headers["X-Error-Message"] = message


class Handler(BaseHTTPRequestHandler):
    """Answers one client."""

    protocol_version = "HTTP/1.1"
    hub: HubServer
    ROUTES = [
        ("POST", r"/api/repos/create", "create"),
        ("POST", r"/api/validate-yaml", "validate"),
        ("POST", r"/api/collections", "collection"),
        ("POST", r"/api/collections/([^/]+/[^/]+)/items", "collect"),
        ("GET", r"/api/collections/([^/]+/[^/]+)", "collection_answer"),
        ("GET", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)(?:/revision/([^/]+))?", "info"),
        ("GET", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)/tree/([^/]+)", "tree"),
        ("GET", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)/refs", "refs"),
        ("GET", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)/xet-(read|write)-token/([^/]+)", "xet_token"),
        ("POST", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)/preupload/([^/]+)", "preupload"),
        ("POST", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)/commit/([^/]+)", "commit"),
        ("POST", r"/api/(?:models|datasets|spaces)/([^/]+/[^/]+)/tag/([^/]+)", "tag"),
        ("POST", r"/(?:datasets/|spaces/)?([^/]+/[^/]+)\.git/info/lfs/objects/batch", "batch"),
        ("PUT", r"/objects/([0-9a-f]{64})", "put_object"),
        ("POST", r"/objects/([0-9a-f]{64})/verify", "verify_object"),
        ("GET|HEAD", r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", "resolve"),
    ]

    def setup(self):
        super().setup()
        self.hub.connections.add(self.connection)

    def finish(self):
        self.hub.connections.discard(self.connection)
        try:
            super().finish()
        except OSError:
            pass  # the connection was cut on purpose

    def log_message(self, *_):
        pass

    def serve(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.cut = None
        path = urlsplit(self.path).path
        asked = f"{self.command} {path}"
        with self.hub.lock:
            self.hub.requests.append(asked)
            self.hub.authorizations.append(self.headers.get("Authorization"))
            fault = next((f for f in self.hub.faults if f.times and re.search(f.pattern, asked)), None)
            if fault:
                fault.times -= 1
        if fault and fault.call:
            fault.call()
        if fault and fault.status:
            return self.answer(fault.status, fault.content, fault.headers)
        self.cut = fault.cut if fault else None
        try:
            for methods, pattern, name in self.ROUTES:
                match = re.fullmatch(pattern, path)
                if match and self.command in methods.split("|"):
                    with self.hub.lock:
                        return getattr(self, name)(*(part and unquote(part) for part in match.groups()))
            raise Refusal(404)
        except Refusal as refusal:
            self.answer(refusal.status, {"error": "refused"}, refusal.headers)

    do_GET = do_HEAD = do_POST = do_PUT = serve

    def answer(self, status, content=None, headers=None):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[: self.cut])
        if self.cut is not None:
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def json(self):
        return json.loads(self.body)

    def right(self):
        """Returns what the client's token allows: None, "read" or "write"."""
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token and token not in self.hub.tokens:
            raise Refusal(401, message="Invalid credentials in Authorization header")
        return self.hub.tokens.get(token)

    def find(self, name, write=False):
        """Returns a repository that the client may read or write."""
        right, repository = self.right(), self.hub.repositories.get(name)
        if repository is None or (repository.private and right is None):
            raise Refusal(404 if right else 401, "RepoNotFound", "Repository not found")
        if repository.gated and right is None:
            raise Refusal(401, "GatedRepo", "Access to this model is restricted")
        if write and right != "write":
            raise Refusal(401 if right is None else 403, message="You have read access only")
        return repository

    def find_commit(self, name, revision, write=False):
        repository = self.find(name, write)
        commit = repository.resolve(revision or "main")
        if commit is None:
            raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return repository, commit, repository.commits[commit]

    def create(self):
        if self.right() != "write":
            raise Refusal(403 if self.right() else 401, message="You may not create a repository here")
        asked = self.json()
        name = f"{asked['organization']}/{asked['name']}"
        found = {"url": f"{self.hub.url}/{name}", "name": name, "id": name}
        if name in self.hub.repositories:
            return self.answer(409, {**found, "error": "You already created this model repo"})
        self.hub.repository(name, private=asked.get("visibility") == "private")
        self.hub.kinds[name] = asked.get("type") or "model"
        self.answer(200, found)

    def collection(self):
        if self.right() != "write":
            raise Refusal(403)
        slug = f"{self.json()['namespace']}/{self.json()['title'].split(':')[0]}-1"
        if slug in self.hub.collections:
            return self.answer(409, {"slug": slug, "error": "it is there already"})
        self.hub.collections[slug] = []
        self.collection_answer(slug)

    def collection_answer(self, slug):
        found = {"slug": slug, "title": slug, "owner": {"name": "me"}, "items": [], "private": False, "position": 0}
        self.answer(200, {**found, "lastUpdated": "2026-01-01T00:00:00.000Z", "theme": "blue", "upvotes": 0})

    def collect(self, slug):
        if self.right() != "write":
            raise Refusal(403)
        item = (self.json()["item"]["type"], self.json()["item"]["id"])
        if item in self.hub.collections[slug]:
            raise Refusal(409)
        self.hub.collections[slug].append(item)
        self.collection_answer(slug)

    def validate(self):
        if not self.json()["content"].startswith("---\n"):
            return self.answer(400, {"errors": [{"message": "no front matter"}], "warnings": []})
        self.answer(200, {"errors": [], "warnings": []})

    def info(self, name, revision):
        repository, commit, files = self.find_commit(name, revision)
        entries = [file.entry(path) for path, file in files.items()]
        siblings = [{"rfilename": e["path"], "blobId": e["oid"], "size": e["size"]} for e in entries]
        for sibling, file in zip(siblings, files.values(), strict=True):
            if file.lfs:
                sibling["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": 130}
        found = {"_id": name, "id": name, "modelId": name, "sha": commit, "siblings": siblings, "tags": []}
        self.answer(200, {**found, "private": repository.private, "gated": False, "downloads": 0, "likes": 0})

    def tree(self, name, revision):
        files = self.find_commit(name, revision)[2]
        self.answer(200, [file.entry(path) for path, file in files.items()])

    def refs(self, name):
        repository = self.find(name)

        def listed(kind, refs):
            return [{"name": n, "ref": f"refs/{kind}/{n}", "targetCommit": c} for n, c in refs.items()]

        branches, tags = listed("heads", repository.branches), listed("tags", repository.tags)
        self.answer(200, {"branches": branches, "tags": tags, "converts": []})

    def preupload(self, name, revision):
        files = self.find_commit(name, revision, write=True)[2]
        found = []
        for asked in self.json()["files"]:
            path = asked["path"]
            mode = "lfs" if path.endswith(".safetensors") else "regular"
            oid = files[path].oid if path in files else None
            found.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self.answer(200, {"files": found})

    def batch(self, name):
        self.find(name, write=True)
        found = []
        for asked in self.json()["objects"]:
            href = f"{self.hub.url}/objects/{asked['oid']}"
            if asked["oid"] not in self.hub.objects:
                asked["actions"] = {"upload": {"href": href}, "verify": {"href": href + "/verify"}}
            found.append(asked)
        self.answer(200, {"transfer": "basic", "objects": found})

    def put_object(self, oid):
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Refusal(400)
        self.hub.objects[oid] = self.body
        self.answer(200)

    def verify_object(self, oid):
        if len(self.hub.objects.get(oid, b"")) != self.json()["size"]:
            raise Refusal(400)
        self.answer(200)

    def xet_token(self, name, kind, revision):
        self.find_commit(name, revision, write=kind == "write")
        url = f"local://{self.hub.xet_folder}"
        headers = {"X-Xet-Cas-Url": url, "X-Xet-Access-Token": "a-token", "X-Xet-Token-Expiration": str(FAR_AWAY)}
        self.answer(200, {"casUrl": url, "accessToken": "a-token", "exp": FAR_AWAY}, headers)

    def commit(self, name, revision):
        repository, head, _ = self.find_commit(name, revision, write=True)
        lines = [json.loads(line) for line in self.body.splitlines()]
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, head):
            raise Refusal(412, message="A commit has happened since")
        files = {}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = File(base64.b64decode(value["content"]))
            elif value["oid"] in self.hub.objects:
                files[value["path"]] = File(self.hub.objects[value["oid"]], lfs=True)
            else:
                found = self.hub.xet_hash(value["oid"]) if self.hub.xet_folder else None
                if found is None:
                    raise Refusal(400, message="an object was never uploaded")
                files[value["path"]] = File(None, True, value["oid"], value["size"], found)
        commit = repository.commit(files, header["summary"])
        self.answer(200, {"success": True, "commitOid": commit, "commitUrl": f"{self.hub.url}/{name}/commit/{commit}"})

    def tag(self, name, revision):
        repository, commit, _ = self.find_commit(name, revision, write=True)
        tag = self.json()["tag"]
        if tag in repository.tags:
            raise Refusal(409, message="Tag reference exists already")
        repository.tags[tag] = commit
        self.answer(200, {})

    def resolve(self, name, revision, path):
        _, commit, files = self.find_commit(name, revision)
        if path not in files:
            refusal = Refusal(404, "EntryNotFound", "Entry not found")
            refusal.headers["X-Repo-Commit"] = commit
            raise refusal
        file = files[path]
        headers = {"X-Repo-Commit": commit, "ETag": f'"{file.oid}"', "Accept-Ranges": "bytes"}
        if file.xet:
            route = f"{self.hub.url}/api/models/{name}/xet-read-token/{commit}"
            headers |= {"X-Xet-Hash": file.xet, "Link": f'<{route}>; rel="xet-auth"', "X-Linked-Size": str(file.size)}
            return self.answer(200, b"", {**headers, "X-Linked-Etag": f'"{file.sha256}"'})
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if wanted:
            first = int(wanted[1])
            self.hub.ranges.append(wanted[0])
            headers["Content-Range"] = f"bytes {first}-{file.size - 1}/{file.size}"
            return self.answer(206, file.content[first:], headers)
        self.answer(200, file.content, headers)
