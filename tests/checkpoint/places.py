"""Places that stores are tried on: a directory, and object stores."""

from pathlib import Path

from streamlearn.checkpoint.local import CheckpointStore
from streamlearn.checkpoint.objects import Objects
from streamlearn.checkpoint.remote import RemoteStore


class Directory:
    """A local directory."""

    def __init__(self, path):
        self.location = str(path)

    def store(self, *arguments, **settings):
        return CheckpointStore(Path(self.location), *arguments, **settings)

    def damage(self, where, change):
        path = Path(where)
        path.write_bytes(change(path.read_bytes()))

    def remove(self, where):
        Path(where).unlink()

    def content(self):
        return {path.name: path.read_bytes() for path in Path(self.location).iterdir() if path.name != "LOCK"}


class Bucket:
    """A prefix of an object store."""

    def __init__(self, url):
        self.location = url
        self.objects = Objects(url)

    def store(self, *arguments, objects=None, **settings):
        return RemoteStore(objects or self.objects, *arguments, **settings)

    def damage(self, where, change):
        name = where.rpartition("/")[2]
        damaged = change(self.objects.read(name))
        with self.objects.open_new(name) as file:
            file.write(damaged)

    def remove(self, where):
        self.objects.delete(where.rpartition("/")[2])

    def content(self):
        names = self.objects.names() + self.objects.names("CURRENT/")
        return {name: self.objects.read(name) for name in names}
